//go:build unix

package deletion_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// TestTheWALOfOthersStaysTheSame: another process holds the store open and does nothing. We delete, and end by SIGKILL, then at the
// end of input: -wal and -shm are the files that they were, and the other process sees what we did and can write.
func TestTheWALOfOthersStaysTheSame(t *testing.T) {
	for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
		home := homeWith(t, false, []string{"P", "D", "Q", "LIVE"}, schema, family, another)
		other := sidecartest.StartIdleAgent(t, home.Store())
		files := func() (inodes []uint64) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				info, err := os.Stat(home.Store() + suffix)
				require.NoError(t, err)
				inodes = append(inodes, inode(info))
			}
			return inodes
		}
		before := files()
		require.Equal(t, []string{"D", "LIVE", "P", "Q"}, other.Run("SELECT id FROM sessions ORDER BY id"))

		killed := sidecartest.Start(t, sidecartest.Plain)
		killed.Handshake()
		require.True(t, killed.Delete(home, "P").OK)
		killed.Kill()
		killed.Wait()
		assert.Equal(t, before, files())
		assert.Equal(t, []string{"LIVE", "Q"}, other.Run("SELECT id FROM sessions ORDER BY id"))
		other.Run("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('LIVE', 'user', 'after the kill', 2)")

		ended := sidecartest.Start(t, sidecartest.Plain)
		ended.Handshake()
		require.True(t, ended.Delete(home, "Q").OK)
		ended.CloseStdin()
		require.Zero(t, ended.Wait())
		assert.Equal(t, before, files())
		assert.Equal(t, []string{"LIVE"}, other.Run("SELECT id FROM sessions ORDER BY id"))
		other.Run("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('LIVE', 'user', 'after the end', 3)")

		home.RequireSound()
		other.Stop()
		assert.Equal(t, []string{"zarquon of LIVE", "after the kill", "after the end"},
			home.Query("SELECT content FROM messages ORDER BY id"), "nothing that the other process wrote is lost")
	}
}

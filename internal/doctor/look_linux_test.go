package doctor

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// Where nothing may be written, a store can be looked at all the same: one that nobody has open, and one with what was left of a log.
func TestWhereNothingMayBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	for name, without := range map[string][]string{
		"nobody has it open": {"-wal", "-shm"}, "what was left of a log": nil, "a log without its index": {"-shm"},
	} {
		t.Run(name, func(t *testing.T) {
			home := copyWhileOpen(t)
			for _, suffix := range without {
				require.NoError(t, os.Remove(home+"/state.db"+suffix))
			}
			require.NoError(t, os.Chmod(home, 0o500))
			defer func() { _ = os.Chmod(home, 0o700) }()
			before := imprint(t, home)
			for _, full := range []bool{false, true} {
				report := look(t, home, full)
				assert.True(t, report.Healthy, "%+v", report.Findings)
				assert.Equal(t, before, imprint(t, home))
			}
		})
	}
}

// copyWhileOpen makes a home as a crash leaves it: with a log that holds something. Its files may only be read.
func copyWhileOpen(t *testing.T) string {
	t.Helper()
	home, copied := newHome(t), t.TempDir()
	db := home.Open()
	defer func() { _ = db.Close() }()
	_, err := db.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('S', 'user', 'more', 2)`)
	require.NoError(t, err)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		text, err := os.ReadFile(home.Store() + suffix)
		require.NoError(t, err)
		require.NotEmpty(t, text)
		require.NoError(t, os.WriteFile(copied+"/state.db"+suffix, text, 0o400))
	}
	return copied
}

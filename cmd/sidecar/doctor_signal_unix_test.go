//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// A doctor that has copied a history takes the copy away however it is ended: by hand, with its terminal, or by the system.
func TestADoctorThatIsEndedLeavesNoCopy(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	home.Exec(`INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60000) SELECT 's1', 'user', hex(randomblob(150)), 1 FROM n`)
	for _, end := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		temporary := t.TempDir()
		cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain), "doctor", "--home", home.Path, "--full")
		p := sidecartest.StartCommand(t, cmd, sidecartest.Env("TMPDIR="+temporary))
		copies := func() []string {
			copies, err := filepath.Glob(filepath.Join(temporary, "sidecar-doctor-*", "*"))
			require.NoError(t, err)
			return copies
		}
		require.Eventually(t, func() bool { return len(copies()) > 0 }, time.Minute, time.Millisecond)
		require.NoError(t, cmd.Process.Signal(end))
		assert.Equal(t, 2, p.Wait(), "%v: %s", end, p.Stderr())
		assert.Empty(t, copies(), end)
		sidecartest.RequireSilent(t, p.Stderr())
	}
}

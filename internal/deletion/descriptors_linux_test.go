package deletion_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// TestTooManyOpenFiles gives the real process one descriptor more each time. As long as there are not enough, each delete
// says that too many files are open, and nothing has changed; or its rows are gone, and it says what it could not look at. It
// never says that all is done while something is left. With the descriptors that it lacked, the same process goes on.
func TestTooManyOpenFiles(t *testing.T) {
	seen := map[string]bool{}
	home := homeOfASpillingSession(t)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	p.Delete(home, "unrelated") // the SQLite of this process has read what it reads once
	for free := uint64(0); free < 20; free++ {
		home := homeOfASpillingSession(t)
		limitDescriptors(t, p, uint64(p.Descriptors())+free)
		result := p.Delete(home, "V")
		limitDescriptors(t, p, 512)
		seen[result.Reason] = true
		rows := len(home.Query("SELECT id FROM sessions WHERE id = 'V'"))
		if result.DeletedIDs == nil {
			assert.Contains(t, []string{"io_error", "manifest_failed"}, result.Reason)
			assert.Contains(t, result.Detail, "too many open files")
			assert.Equal(t, 1, rows)
			requireArtifacts(t, home, "V")
			assert.Equal(t, []string{"of_V.txt"}, spilledIn(t, home))
		} else {
			assert.Zero(t, rows)
			_, notes := noted(home)
			left := len(artifactsOf(home, "V")) + len(spilledIn(t, home)) + len(notes)
			assert.Equal(t, result.OK, left == 0, "with %d descriptors: %+v, %d files and notes are left", free, result, left)
		}
		home.RequireSound()
		require.True(t, p.Delete(home, "V").OK)
		assert.Empty(t, artifactsOf(home, "V"))
		assert.Empty(t, spilledIn(t, home))
		assert.Empty(t, home.Manifests())
	}
	assert.Equal(t, map[string]bool{"io_error": true, "manifest_failed": true, "cleanup_pending": true, "": true}, seen)
}

// limitDescriptors lets a process open no descriptor of this number or above.
func limitDescriptors(t *testing.T, p *sidecartest.Process, n uint64) {
	t.Helper()
	require.NoError(t, unix.Prlimit(p.Cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: 512}, nil))
}

// homeOfASpillingSession has a session V whose message names a file of spilled tool output.
func homeOfASpillingSession(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1)`,
		`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('V', 'tool', 'cache/spillover/of_V.txt', 1)`)
	home.Artifacts("V")
	home.Write("cache/spillover/of_V.txt", "spilled")
	return home
}

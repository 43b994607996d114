package deletion_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// TestABackupPutBackRightAfterADelete: a store stays open for a moment after a delete. Whoever puts an older one in its place then, beside
// nobody, finds that one and nothing of ours in it, whether the process lives on or not; and the store that is taken away is whole by itself.
func TestABackupPutBackRightAfterADelete(t *testing.T) {
	for _, way := range []string{"copied over", "moved there", "copied anew", "copied over, when ours was killed"} {
		for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
			t.Run(way, func(t *testing.T) {
				t.Parallel()
				home := sidecartest.NewHome(t)
				home.Create(schema, family)
				backup, taken := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "taken.db")
				copyFile(t, home.Store(), backup)
				home.Exec(`INSERT INTO sessions (id, source, started_at) WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
					SELECT 's' || i, 'cli', i FROM n;
					INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', hex(randomblob(400)), 1 FROM sessions`)
				before := home.Query("SELECT count(*) FROM sessions WHERE id <> 's7'")
				p := sidecartest.Start(t, sidecartest.Plain)
				p.Handshake()
				require.True(t, p.Delete(home, "s7").OK)
				copyFile(t, home.Store(), taken)
				log, err := os.Stat(home.Store() + "-wal")
				require.NoError(t, err)
				assert.Zero(t, log.Size())
				switch way {
				case "moved there":
					require.NoError(t, os.Rename(backup, home.Store()))
				case "copied anew":
					require.NoError(t, os.Remove(home.Store()))
					copyFile(t, backup, home.Store())
				case "copied over, when ours was killed":
					p.Kill()
					p.Wait()
					fallthrough
				default:
					copyFile(t, backup, home.Store())
				}
				if way != "copied over, when ours was killed" {
					p.CloseStdin()
					require.Zero(t, p.Wait(), p.Stderr())
				}
				home.RequireSound()
				assert.Equal(t, []string{"0"}, home.Query("SELECT count(*) FROM sessions WHERE id LIKE 's%'"))
				require.NoError(t, os.Rename(taken, home.Store()))
				home.RequireSound()
				assert.Equal(t, before, home.Query("SELECT count(*) FROM sessions"))
			})
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

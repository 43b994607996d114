package deletion_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// TestTheTrashAndTheClock: an entry goes at the next use, or start, when its time is over, in a process that runs and in one that
// begins then; a clock that is set back a year keeps it.
func TestTheTrashAndTheClock(t *testing.T) {
	t.Parallel()
	home := homeOfClocks(t)
	p, clock := startWithClock(t)
	kept := func(id string) {
		result := p.Delete(home, id, map[string]any{"keep_days": 2})
		require.True(t, result.OK, result.Detail)
	}
	use := func() { require.True(t, p.Delete(home, "nobody").OK) }
	kept("U")
	clock.wrongBy(-365 * aDay)
	use()
	require.Len(t, entriesOf(t, p, home), 1)
	clock.wrongBy(2*aDay - time.Hour)
	use()
	require.Len(t, entriesOf(t, p, home), 1, "an hour too early")
	clock.wrongBy(2*aDay + time.Minute)
	use()
	require.Empty(t, trashFiles(t, home), "it goes while the process runs")
	clock.wrongBy(0)
	kept("W")
	p, _ = startWithClock(t)
	use()
	require.Len(t, trashFiles(t, home), 1)
	p, clock = startWithClock(t)
	clock.wrongBy(3 * aDay)
	use()
	require.Empty(t, trashFiles(t, home), "it goes at the first use by another")
	home.RequireSound()
}

// TestAWatchedTrash: where the home is watched nobody has to use it.
func TestAWatchedTrash(t *testing.T) {
	t.Parallel()
	home := homeOfClocks(t)
	p := sidecartest.Start(t, sidecartest.Release)
	p.Handshake()
	require.True(t, p.Delete(home, "U", map[string]any{"keep_days": 2}).OK)
	require.Len(t, trashFiles(t, home), 1)
	p.CloseStdin()
	require.Zero(t, p.Wait())
	p, clock := startWithClock(t)
	clock.wrongBy(3 * aDay)
	p.Request("watch", "cleanup.watch", map[string]any{"profile_home": home.Path, "enabled": true})
	require.Nil(t, p.Reply().Error)
	require.Eventually(t, func() bool { return len(trashFiles(t, home)) == 0 }, time.Minute, 10*time.Millisecond)
}

// TestTheStartAndTheClock: an entry whose time is over goes when a process begins that is told of its home.
func TestTheStartAndTheClock(t *testing.T) {
	for _, name := range []string{"base_home", "watch"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := homeOfClocks(t)
			p := sidecartest.Start(t, sidecartest.Release)
			p.Handshake()
			require.True(t, p.Delete(home, "U", map[string]any{"keep_days": 2}).OK)
			require.Len(t, trashFiles(t, home), 1)
			later := clockedProcess(t, 3*aDay)
			later.Handshake(handshakeNaming(t, name, home))
			require.Eventually(t, func() bool { return len(trashFiles(t, home)) == 0 }, time.Minute, 10*time.Millisecond)
		})
	}
}

// TestTheTimerOfAWatchedTrash: an entry goes when its time is over while the home is watched, though nothing happens there.
func TestTheTimerOfAWatchedTrash(t *testing.T) {
	t.Parallel()
	home := homeOfClocks(t)
	p, clock := startWithClock(t)
	require.True(t, p.Delete(home, "U", map[string]any{"keep_days": 2}).OK)
	// Something that cannot be removed has the timer come by soon.
	require.NoError(t, os.Mkdir(filepath.Join(home.Path, "sessions", "stuck.json"), 0o700))
	home.Write("sessions/.cleanup_manifest_1.json", `["stuck"]`)
	p.Request("watch", "cleanup.watch", map[string]any{"profile_home": home.Path, "enabled": true})
	require.Nil(t, p.Reply().Error)
	eventually(t, func() bool {
		s := statusOf(t, p)
		return s.Counters.CleanupRuns > 1 && len(s.Homes) == 1 && len(s.Homes[0].Pending) > 0
	}, "it was not worked through: %s", p.Stderr())
	require.Len(t, trashFiles(t, home), 1)
	clock.wrongBy(3 * aDay)
	require.Eventually(t, func() bool { return len(trashFiles(t, home)) == 0 }, time.Minute, 10*time.Millisecond)
}

// TestAKeptDeleteWhoseOutcomeIsUnknown keeps its entry: the disk does not say whether the commit is there, and the rows may be gone. What
// is in the store after all is not in the trash too.
func TestAKeptDeleteWhoseOutcomeIsUnknown(t *testing.T) {
	for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
		home := sidecartest.NewHome(t)
		home.Create(schema, keptSession)
		db := home.Open() // the log stays, so that there is a file to watch
		_, err := db.Exec("UPDATE sessions SET title = 'of P'")
		require.NoError(t, err)
		p := sidecartest.Start(t, sidecartest.Release, sidecartest.Env("LOG="+home.Store()+"-wal"), sidecartest.Shell(
			`exec strace -f -qq -o /dev/null -P "$LOG" -e trace=fsync,fdatasync -e inject=fsync,fdatasync:error=EIO "$0"`))
		p.Handshake()
		result := p.Delete(home, "P", map[string]any{"keep_days": 7})
		require.False(t, result.OK)
		require.Equal(t, "io_error", result.Reason)
		require.Len(t, trashFiles(t, home), 1, "it may be all that is left: %s", result.Detail)
		p.CloseStdin()
		require.Zero(t, p.Wait())
		require.NoError(t, db.Close())
		next := sidecartest.Start(t, sidecartest.Plain)
		next.Handshake()
		there := len(home.Query("SELECT id FROM sessions WHERE id = 'P'"))
		assert.Equal(t, 1, there+len(entriesOf(t, next, home)), "it is in the store, or in the trash")
		require.True(t, next.Delete(home, "nobody").OK)
		assert.Len(t, trashFiles(t, home), 1-there)
	}
}

// keptLimit is what the process may have where it keeps 200 MB.
const keptLimit = 40 << 20

// TestAKeptDeleteIsStreamed deletes a conversation of 100,000 messages and 200 MB, keeps it, and brings it back.
func TestAKeptDeleteIsStreamed(t *testing.T) {
	t.Parallel()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, family, `INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		SELECT 'P', 'tool', 'x' || i || hex(zeroblob(1000)), i FROM n`, history)
	info, err := os.Stat(home.Store())
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(200_000_000))
	p := sidecartest.Start(t, sidecartest.Release)
	p.Handshake()
	result := p.Delete(home, "P", map[string]any{"keep_days": 1})
	require.True(t, result.OK, result.Detail)
	deleted := peak(t, p)
	operation := entriesOf(t, p, home)["P,D"]
	listed := peak(t, p)
	_, why := restored(t, p, home, operation)
	require.Empty(t, why, p.Stderr())
	back := peak(t, p)
	t.Logf("resident at most: %d MB after the delete, %d MB after the list, %d MB after the restore", deleted>>20, listed>>20, back>>20)
	assert.Less(t, back, int64(keptLimit))
	assert.Equal(t, []string{"100002"}, home.Query("SELECT count(*) FROM messages WHERE session_id LIKE 'restored-%'"))
	home.RequireSound()
}

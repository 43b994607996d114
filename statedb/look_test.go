package statedb

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func startLook(t *testing.T, home *sidecartest.Home) *Look {
	t.Helper()
	l, err := StartLook(t.Context(), home.Store(), LookPatience)
	require.NoError(t, err)
	t.Cleanup(l.Close)
	return l
}

func notedCount(t *testing.T, c *conn) (n int) {
	t.Helper()
	require.NoError(t, c.QueryRowContext(t.Context(), "SELECT count(*) FROM state_meta").Scan(&n))
	return n
}

// holds takes the write lock, asks, and gives it back.
func holds(t *testing.T, l *Look) bool {
	t.Helper()
	tx, holds, err := l.Begin(t.Context(), time.Second)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	return holds
}

const aNote = `INSERT INTO state_meta VALUES (hex(randomblob(8)), 'x')`

// Whatever another connection commits, before or after the snapshot was ended, is told; what it does not commit is not.
func TestALookHoldsUntilAnotherCommits(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			home := newStore(t)
			home.Exec("PRAGMA journal_mode = " + mode)
			l := startLook(t, home)
			assert.Zero(t, notedCount(t, l.conn))
			assert.True(t, holds(t, l))
			assert.True(t, holds(t, l), "again")

			other := begin(t, home)
			_, err := other.conn.ExecContext(t.Context(), aNote)
			require.NoError(t, err)
			require.NoError(t, other.Rollback())
			assert.True(t, holds(t, l), "nothing was committed")

			home.Exec(aNote)
			assert.False(t, holds(t, l))
			assert.False(t, holds(t, l), "and it stays so")
			require.NoError(t, l.Again(t.Context()))
			assert.Equal(t, 1, notedCount(t, l.conn))
			assert.True(t, holds(t, l))
		})
	}
}

func TestALookIsOneSnapshot(t *testing.T) {
	home := newStore(t)
	home.Exec("PRAGMA journal_mode = wal")
	l := startLook(t, home)
	home.Exec(aNote)
	assert.Zero(t, notedCount(t, l.conn), "what came later is not seen")
	tx, holds, err := l.Begin(t.Context(), time.Second)
	require.NoError(t, err)
	assert.False(t, holds)
	assert.Equal(t, 1, notedCount(t, tx.conn), "but under the lock it is")
	require.NoError(t, tx.Rollback())
}

// Its own transactions do not count, or it would hold but once.
func TestALookHoldsAfterItsOwnCommit(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			home := newStore(t)
			home.Exec("PRAGMA journal_mode = " + mode)
			l := startLook(t, home)
			for range 3 {
				tx, holds, err := l.Begin(t.Context(), time.Second)
				require.NoError(t, err)
				assert.True(t, holds)
				_, err = tx.conn.ExecContext(t.Context(), aNote)
				require.NoError(t, err)
				require.NoError(t, tx.Commit())
			}
			assert.Len(t, home.Query("SELECT key FROM state_meta"), 3)
			home.Exec("DELETE FROM state_meta")
			assert.False(t, holds(t, l))
		})
	}
}

// A look that does not get the lock can go on.
func TestALookAtABusyStore(t *testing.T) {
	home := newStore(t)
	home.Exec("PRAGMA journal_mode = wal")
	l := startLook(t, home)
	other := begin(t, home)
	_, _, err := l.Begin(t.Context(), 0)
	require.ErrorIs(t, err, ErrBusy)
	_, _, err = l.Begin(cancelled(t), time.Second)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, other.Rollback())
	assert.True(t, holds(t, l))
	require.ErrorIs(t, l.Again(cancelled(t)), context.Canceled)
}

func TestALookAtAStoreThatIsReplaced(t *testing.T) {
	home, other := newStore(t), newStore(t)
	_, err := StartLook(t.Context(), home.Store()+"x", LookPatience)
	require.ErrorIs(t, err, ErrMissing)
	l := startLook(t, home)
	require.NoError(t, os.Rename(other.Store(), home.Store()))
	_, _, err = l.Begin(t.Context(), time.Second)
	require.ErrorIs(t, err, ErrIO)
}

// A look that is kept is good for nothing any more once somebody has done to the store's files what SQLite is not told of.
func TestAKeptLookSeesWhatSQLiteIsNotTold(t *testing.T) {
	copyOver := func(t *testing.T, from, to string) {
		t.Helper()
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, 0o600))
	}
	for name, act := range map[string]struct {
		do        func(t *testing.T, home *sidecartest.Home)
		untouched bool
	}{
		"nothing":             {func(*testing.T, *sidecartest.Home) {}, true},
		"a commit of another": {func(_ *testing.T, home *sidecartest.Home) { home.Exec(aNote) }, false}, // which SQLite tells too
		"another file": {func(t *testing.T, home *sidecartest.Home) {
			copyOver(t, home.Store(), home.Store()+".new")
			require.NoError(t, os.Rename(home.Store()+".new", home.Store()))
		}, false},
		"no file": {func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.Remove(home.Store())) }, false},
		"its content": {func(t *testing.T, home *sidecartest.Home) {
			copyOver(t, home.Store(), home.Store()+".old")
			copyOver(t, home.Store()+".old", home.Store())
			later := time.Now().Add(time.Second)
			require.NoError(t, os.Chtimes(home.Store(), later, later))
		}, false},
		"its content, and its times put back": {func(t *testing.T, home *sidecartest.Home) {
			info, err := os.Stat(home.Store())
			require.NoError(t, err)
			copyOver(t, home.Store(), home.Store()+".old")
			copyOver(t, home.Store()+".old", home.Store())
			require.NoError(t, os.Chtimes(home.Store(), info.ModTime(), info.ModTime()))
		}, false},
		"its mode":             {func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.Chmod(home.Store(), 0o400)) }, false},
		"the log":              {func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.Remove(home.Store()+"-wal")) }, false},
		"the mode of the log":  {func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.Chmod(home.Store()+"-wal", 0o400)) }, false},
		"the index of the log": {func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.Remove(home.Store()+"-shm")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := newStore(t)
			l := startLook(t, home)
			require.NoError(t, l.Rest())
			require.True(t, l.Untouched())
			act.do(t, home)
			assert.Equal(t, act.untouched, l.Untouched())
		})
	}
}

// What was put in the place of a store before the look was laid to rest is not what it was opened for.
func TestALookThatIsLaidToRestTooLate(t *testing.T) {
	home := newStore(t)
	l := startLook(t, home)
	require.NoError(t, os.Rename(home.Store(), home.Store()+".old"))
	require.NoError(t, os.WriteFile(home.Store(), []byte("another"), 0o600))
	require.NoError(t, l.Rest())
	assert.False(t, l.Untouched())
}

// What was committed is in the store's own file once a look has settled, and its log is empty; where somebody reads on from before, it is
// not, and nobody is waited for.
func TestALookSettles(t *testing.T) {
	home := newStore(t)
	l := startLook(t, home)
	write := func() {
		tx, _, err := l.Begin(t.Context(), time.Second)
		require.NoError(t, err)
		_, err = tx.conn.ExecContext(t.Context(), aNote)
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
	}
	logSize := func() int64 {
		info, err := os.Stat(home.Store() + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	write()
	require.NotZero(t, logSize())
	require.True(t, l.Settle())
	assert.Zero(t, logSize())
	require.True(t, l.Settle(), "again")
	require.NoError(t, l.Again(t.Context()))
	_, held, err := l.Begin(t.Context(), time.Second)
	require.NoError(t, err)
	assert.True(t, held, "to settle is no commit of another")
	require.NoError(t, l.rest())

	reader := startLook(t, home)
	assert.Equal(t, 1, notedCount(t, reader.conn))
	write()
	assert.False(t, l.Settle())
	require.NoError(t, reader.rest())
	assert.True(t, l.Settle())

	write()
	require.NoError(t, os.Rename(home.Store(), home.Store()+".old"))
	assert.False(t, l.Settle(), "another store may be there by now")
}

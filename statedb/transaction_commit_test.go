package statedb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sessionX = "INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1), ('y', 'cli', 1)"

func TestCommit(t *testing.T) {
	home := newStore(t, sessionX)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "y"}, home.Query("SELECT id FROM sessions ORDER BY 1"), "nobody else sees it yet")
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"y"}, home.Query("SELECT id FROM sessions"))
	require.NoError(t, tx.Rollback(), "too late, and no harm")
	assert.Equal(t, []string{"y"}, home.Query("SELECT id FROM sessions"))
	requireFree(t, home)
}

func TestRollback(t *testing.T) {
	home := newStore(t, sessionX)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	require.NoError(t, tx.Rollback())
	assert.Equal(t, []string{"x", "y"}, home.Query("SELECT id FROM sessions ORDER BY 1"))
	requireFree(t, home)
}

func TestHeldEndsWithTheTransaction(t *testing.T) {
	for name, end := range map[string]func(*Tx) error{"commit": (*Tx).Commit, "rollback": (*Tx).Rollback} {
		t.Run(name, func(t *testing.T) {
			home := newStore(t)
			before := time.Now()
			tx := begin(t, home)
			assert.Zero(t, tx.Held())
			require.NoError(t, end(tx))
			held := tx.Held()
			assert.Positive(t, held)
			assert.LessOrEqual(t, held, time.Since(before))
			require.NoError(t, tx.Rollback())
			assert.Equal(t, held, tx.Held(), "it has ended already")
		})
	}
}

// A reference that is checked at the commit alone: the commit fails, and it is certain that the rows are back.
func TestCommitThatAReferenceStops(t *testing.T) {
	home := newStore(
		t, sessionX,
		"INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (7, 'x', 'user', 'hello', 1)",
		"CREATE TABLE bookmarks (message INTEGER REFERENCES messages(id) DEFERRABLE INITIALLY DEFERRED)",
		"INSERT INTO bookmarks VALUES (7)",
	)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	err = tx.Commit()
	requireDetail(t, err, ErrUnsupported, "FOREIGN KEY")
	require.NotErrorIs(t, err, ErrOutcomeUnknown)
	requireFree(t, home)
	require.NoError(t, tx.Rollback(), "nothing is left to do")
	assert.Equal(t, []string{"x", "y"}, home.Query("SELECT id FROM sessions ORDER BY 1"))
	assert.Equal(t, []string{"7"}, home.Query("SELECT id FROM messages"))
	home.RequireSound()
}

// SQLite ends a transaction by itself after some failures: then nobody can say from here what the disk holds.
func TestCommitWhoseOutcomeIsUnknown(t *testing.T) {
	home := newStore(t, sessionX)
	tx := begin(t, home)
	_, err := tx.conn.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	err = tx.Commit()
	require.ErrorIs(t, err, ErrOutcomeUnknown)
	require.NoError(t, tx.Rollback())
	requireFree(t, home)
}

func TestRollbackOfWhatSQLiteHasRolledBack(t *testing.T) {
	home := newStore(t, sessionX, "CREATE TRIGGER no BEFORE DELETE ON sessions BEGIN SELECT RAISE(ROLLBACK, 'not here'); END")
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	requireDetail(t, err, ErrUnsupported, "not here")
	require.NoError(t, tx.Rollback())
	assert.Equal(t, []string{"x", "y"}, home.Query("SELECT id FROM sessions ORDER BY 1"))
	requireFree(t, home)
}

// A store without a WAL is served as well, and stays without one.
func TestAStoreWithoutAWAL(t *testing.T) {
	home := newStore(t, sessionX, "PRAGMA journal_mode = DELETE")
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"y"}, home.Query("SELECT id FROM sessions"))
	assert.Equal(t, []string{"delete"}, home.Query("PRAGMA journal_mode"))
	assert.NoFileExists(t, home.Store()+"-wal")
	home.RequireSound()
}

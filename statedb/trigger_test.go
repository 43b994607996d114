package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// A trigger that stops the delete, or silently keeps a row, makes the store one that we do not delete from.
func TestTriggersThatStopTheDelete(t *testing.T) {
	const rows = `INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('x', 'cli', NULL, 1), ('child', 'cli', 'x', 2)`
	for name, test := range map[string]struct {
		trigger string
		words   string
	}{
		"a message is kept, in words":   {"BEFORE DELETE ON messages BEGIN SELECT RAISE(ABORT, 'words of the store'); END", "words of the store"},
		"a message is kept, failing":    {"BEFORE DELETE ON messages BEGIN SELECT RAISE(FAIL, 'words of the store'); END", "words of the store"},
		"a message is kept, silently":   {"BEFORE DELETE ON messages BEGIN SELECT RAISE(IGNORE); END", "FOREIGN KEY"},
		"a message comes back":          {"AFTER DELETE ON messages BEGIN INSERT INTO messages (session_id, role, timestamp) VALUES (old.session_id, 'user', 1); END", ""},
		"a session is kept, in words":   {"BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'words of the store'); END", "words of the store"},
		"a session is kept, silently":   {"BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END", "trigger"},
		"a session comes back":          {"AFTER DELETE ON sessions BEGIN INSERT INTO sessions (id, source, started_at) VALUES (old.id, 'cli', 1); END", "trigger"},
		"a child is kept, in words":     {"BEFORE UPDATE ON sessions BEGIN SELECT RAISE(ABORT, 'words of the store'); END", "words of the store"},
		"a child is kept, silently":     {"BEFORE UPDATE ON sessions BEGIN SELECT RAISE(IGNORE); END", ""},
		"a lock is kept, silently":      {"BEFORE DELETE ON compression_locks BEGIN SELECT RAISE(IGNORE); END", "trigger"},
		"a usage row is kept, in words": {"BEFORE DELETE ON session_model_usage BEGIN SELECT RAISE(ABORT, 'words of the store'); END", "words of the store"},
	} {
		t.Run(name, func(t *testing.T) {
			home := newStore(
				t, rows, "INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (7, 'x', 'user', 'hello', 1)",
				"INSERT INTO compression_locks VALUES ('x', 'h', 1, 1)", "INSERT INTO session_model_usage (session_id, model) VALUES ('x', 'm')",
				"CREATE TRIGGER keep "+test.trigger,
			)
			tx := begin(t, home)
			removal, err := remove(t, tx, "x")
			requireDetail(t, err, ErrUnsupported, test.words)
			assert.Nil(t, removal)
			var failure *Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, PathLegacy, failure.Path)
			require.NoError(t, tx.Rollback())
			assert.Equal(t, []string{"child|x", "x|NULL"}, home.Query("SELECT id, parent_session_id FROM sessions ORDER BY 1"))
			assert.Equal(t, []string{"7"}, home.Query("SELECT id FROM messages"))
			home.RequireSound()
			requireFree(t, home)
		})
	}
}

// Without foreign keys in the schema nothing but our own look shows that a row was kept.
func TestRowsThatATriggerKeeps(t *testing.T) {
	for _, trigger := range []string{
		"BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END",
		"BEFORE UPDATE ON sessions BEGIN SELECT RAISE(IGNORE); END",
		"BEFORE DELETE ON messages BEGIN SELECT RAISE(IGNORE); END",
		"AFTER DELETE ON messages BEGIN INSERT INTO messages VALUES (old.session_id); END",
		"BEFORE DELETE ON compression_locks BEGIN SELECT RAISE(IGNORE); END",
		"BEFORE DELETE ON session_model_usage BEGIN SELECT RAISE(IGNORE); END",
		"BEFORE DELETE ON telegram_dm_topic_bindings BEGIN SELECT RAISE(IGNORE); END",
	} {
		home := withoutReferences(t)
		tx := begin(t, home)
		_, err := remove(t, tx, "x")
		require.NoError(t, err)
		require.NoError(t, tx.Rollback())
		home.Exec("CREATE TRIGGER keep " + trigger)
		tx = begin(t, home)
		_, err = remove(t, tx, "x")
		requireDetail(t, err, ErrUnsupported, "trigger")
		require.NoError(t, tx.Rollback())
	}
}

// withoutReferences is a store whose tables know nothing of each other.
func withoutReferences(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	home.Create(
		"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT)", "CREATE TABLE messages (session_id TEXT)",
		"CREATE TABLE compression_locks (session_id, holder, expires_at)",
		"CREATE TABLE session_turn_leases (conversation_id, holder, expires_at)",
		"CREATE TABLE session_model_usage (session_id)", "CREATE TABLE telegram_dm_topic_bindings (session_id)",
		"INSERT INTO sessions VALUES ('x', NULL), ('child', 'x')", "INSERT INTO messages VALUES ('x'), ('child')",
		"INSERT INTO compression_locks VALUES ('x', 'h', 1)", "INSERT INTO session_model_usage VALUES ('x'), ('child')",
		"INSERT INTO telegram_dm_topic_bindings VALUES ('x'), ('child')",
	)
	return home
}

func TestRowsGoWithoutAReferenceThatCascades(t *testing.T) {
	home := withoutReferences(t)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"child|NULL"}, home.Query("SELECT * FROM sessions"))
	for _, table := range []string{"messages", "session_model_usage", "telegram_dm_topic_bindings"} {
		assert.Equal(t, []string{"child"}, home.Query("SELECT session_id FROM "+table), table)
	}
	assert.Empty(t, home.Query("SELECT * FROM compression_locks"))
}

// A trigger of the store that does its own work is none of our business.
func TestOtherTriggersRun(t *testing.T) {
	home := newStore(
		t, sessionX, "CREATE TABLE journal (what)",
		"CREATE TRIGGER note AFTER DELETE ON sessions BEGIN INSERT INTO journal VALUES (old.id); END",
	)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"x"}, home.Query("SELECT what FROM journal"))
}

package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A table that we do not know may stop the delete only where its reference would, and where it holds an id that goes.
func TestForeignReferences(t *testing.T) {
	for onDelete, test := range map[string]struct {
		refused bool
		left    []string // rows of notes after a delete of x that goes through
	}{
		"":                              {true, nil},
		"ON DELETE NO ACTION":           {true, nil},
		"ON DELETE RESTRICT":            {true, nil},
		"ON DELETE SET DEFAULT":         {true, nil},
		"ON DELETE SET NULL":            {false, []string{"NULL", "NULL", "y"}},
		"ON DELETE CASCADE":             {false, []string{"NULL", "y"}},
		"DEFERRABLE INITIALLY DEFERRED": {true, nil},
	} {
		t.Run(onDelete, func(t *testing.T) {
			home := newStore(
				t, sessionX,
				`CREATE TABLE "strange ""notes" (n INTEGER, "the session" TEXT DEFAULT 'y' REFERENCES Sessions(ID) `+onDelete+`)`,
				`INSERT INTO "strange ""notes" VALUES (1, NULL), (2, 'y')`,
			)
			tx := begin(t, home)
			_, err := remove(t, tx, "x")
			require.NoError(t, err, "no row holds x")
			require.NoError(t, tx.Rollback())

			home.Exec(`INSERT INTO "strange ""notes" VALUES (3, 'x')`)
			tx = begin(t, home)
			_, err = remove(t, tx, "x")
			if test.refused {
				requireDetail(t, err, ErrUnsupported, `strange "notes`)
				require.NoError(t, tx.Rollback())
				assert.Len(t, home.Query("SELECT id FROM sessions"), 2)
				return
			}
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			assert.ElementsMatch(t, test.left, home.Query(`SELECT "the session" FROM "strange ""notes"`))
			home.RequireSound()
		})
	}
}

func TestForeignReferencesOfOtherForms(t *testing.T) {
	for name, test := range map[string]struct {
		statements []string
		refused    bool
	}{
		"no column named":    {[]string{"CREATE TABLE notes (s REFERENCES sessions)", "INSERT INTO notes VALUES ('x')"}, true},
		"a table constraint": {[]string{"CREATE TABLE notes (s, FOREIGN KEY (s) REFERENCES sessions(id))", "INSERT INTO notes VALUES ('x')"}, true},
		"two references":     {[]string{"CREATE TABLE notes (a REFERENCES sessions(id) ON DELETE CASCADE, b REFERENCES sessions(id))", "INSERT INTO notes VALUES ('y', 'x')"}, true},
		"without a rowid":    {[]string{"CREATE TABLE notes (s TEXT PRIMARY KEY REFERENCES sessions(id)) WITHOUT ROWID", "INSERT INTO notes VALUES ('x')"}, true},
		"to another column": {
			[]string{
				"CREATE UNIQUE INDEX u ON sessions(session_key)", "UPDATE sessions SET session_key = 'x' WHERE id = 'y'",
				"CREATE TABLE notes (s REFERENCES sessions(session_key))", "INSERT INTO notes VALUES ('x')",
			}, false,
		},
		"to another table":    {[]string{"CREATE TABLE notes (s REFERENCES system_prompts(hash))", "INSERT INTO notes VALUES (NULL)"}, false},
		"no reference at all": {[]string{"CREATE TABLE notes (session_id)", "INSERT INTO notes VALUES ('x')"}, false},
		"through a view":      {[]string{"CREATE VIEW notes AS SELECT id FROM sessions"}, false},
		"of another session":  {[]string{"CREATE TABLE notes (s REFERENCES sessions(id))", "INSERT INTO notes VALUES ('y')"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := newStore(t, append([]string{sessionX}, test.statements...)...)
			tx := begin(t, home)
			_, err := remove(t, tx, "x")
			if test.refused {
				requireDetail(t, err, ErrUnsupported, "notes")
			} else {
				require.NoError(t, err)
				require.NoError(t, tx.Commit())
				home.RequireSound()
			}
		})
	}
}

// Whatever goes along counts as well as what was asked for.
func TestForeignReferencesToADelegate(t *testing.T) {
	home := newStore(
		t, `INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('x', 'cli', NULL, 1), ('d', 'subagent', 'x', 2)`,
		"CREATE TABLE notes (s REFERENCES sessions(id))", "INSERT INTO notes VALUES ('d')",
	)
	_, err := remove(t, begin(t, home), "x")
	requireDetail(t, err, ErrUnsupported, "notes")
}

// A reference to what we do not look at beforehand stops the delete when it happens, with SQLite's words.
func TestForeignReferencesToMessages(t *testing.T) {
	home := newStore(
		t, sessionX, "INSERT INTO messages (id, session_id, role, timestamp) VALUES (7, 'x', 'user', 1)",
		"CREATE TABLE reactions (m REFERENCES messages(id))", "INSERT INTO reactions VALUES (7)",
	)
	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	requireDetail(t, err, ErrUnsupported, "FOREIGN KEY constraint failed")
	require.NoError(t, tx.Rollback())
	plan, err := Preview(t.Context(), home.Store(), Request{SessionID: "x"})
	require.NoError(t, err)
	require.ErrorIs(t, plan.Refusal, ErrUnsupported, "a preview foresees it")
	assert.Equal(t, []string{"7"}, home.Query("SELECT id FROM messages"))
	home.RequireSound()
}

// A row of another conversation never goes because it refers to one that does, whatever the store's schema says.
func TestReferencesThatWouldTakeOthersAlong(t *testing.T) {
	const family = `INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('x', 'cli', NULL, 1), ('d', 'subagent', 'x', 2)`
	const turns = `CREATE TABLE turns (n INTEGER PRIMARY KEY, s TEXT REFERENCES sessions(id) ON DELETE CASCADE)`
	const turnOf = `ALTER TABLE messages ADD turn INTEGER REFERENCES Turns(n) ON DELETE CASCADE`
	for name, test := range map[string]struct {
		statements []string
		refused    string // the table that the refusal names
	}{
		"a session that cascades": {
			[]string{"ALTER TABLE sessions ADD forked_from TEXT REFERENCES sessions(id) ON DELETE CASCADE", "UPDATE sessions SET forked_from = 'd' WHERE id = 'y'"}, "sessions",
		},
		"a session that stops": {
			[]string{"ALTER TABLE sessions ADD forked_from TEXT REFERENCES sessions(id)", "UPDATE sessions SET forked_from = 'd' WHERE id = 'y'"}, "sessions",
		},
		"a session that goes too": {
			[]string{"ALTER TABLE sessions ADD forked_from TEXT REFERENCES sessions(id) ON DELETE CASCADE", "UPDATE sessions SET forked_from = 'x' WHERE id = 'd'"}, "",
		},
		"a session that goes too, of a reference that stops": {
			[]string{"ALTER TABLE sessions ADD forked_from TEXT REFERENCES sessions(id)", "UPDATE sessions SET forked_from = 'x' WHERE id = 'd'"}, "",
		},
		"a session that lets go": {
			[]string{"ALTER TABLE sessions ADD forked_from TEXT REFERENCES sessions(id) ON DELETE SET NULL", "UPDATE sessions SET forked_from = 'd' WHERE id = 'y'"}, "",
		},
		"a message": {
			[]string{
				"ALTER TABLE messages ADD quoted INTEGER REFERENCES messages(id) ON DELETE CASCADE",
				"INSERT INTO messages (id, session_id, role, timestamp, quoted) VALUES (7, 'd', 'user', 1, NULL), (8, 'y', 'user', 1, 7)",
			}, "messages",
		},
		"a message of the same conversation": {
			[]string{
				"ALTER TABLE messages ADD quoted INTEGER REFERENCES messages(id) ON DELETE CASCADE",
				"INSERT INTO messages (id, session_id, role, timestamp, quoted) VALUES (7, 'd', 'user', 1, NULL), (8, 'x', 'user', 1, 7)",
			}, "",
		},
		"a message by its session": {
			[]string{
				"ALTER TABLE messages ADD from_session TEXT REFERENCES sessions(id) ON DELETE CASCADE",
				"INSERT INTO messages (id, session_id, role, timestamp, from_session) VALUES (8, 'y', 'user', 1, 'x')",
			}, "messages",
		},
		"by way of another table": {
			[]string{
				turns, turnOf, "INSERT INTO turns VALUES (1, 'd'), (2, 'y')",
				"INSERT INTO messages (id, session_id, role, timestamp, turn) VALUES (7, 'd', 'user', 1, 1), (8, 'y', 'user', 1, 1)",
			}, "messages",
		},
		"by way of another table, each in its own conversation": {
			[]string{
				turns, turnOf, "INSERT INTO turns VALUES (1, 'd'), (2, 'y'), (3, 'd')",
				"INSERT INTO messages (id, session_id, role, timestamp, turn) VALUES (7, 'd', 'user', 1, 1), (8, 'y', 'user', 1, 2), (9, 'x', 'user', 1, 3)",
			}, "",
		},
		"by way of two, to a session": {
			[]string{
				turns, "CREATE TABLE tags (t INTEGER PRIMARY KEY, n REFERENCES turns ON DELETE CASCADE)",
				"ALTER TABLE sessions ADD tag INTEGER REFERENCES Tags(t) ON DELETE CASCADE",
				"INSERT INTO turns VALUES (1, 'x')", "INSERT INTO tags VALUES (5, 1)", "UPDATE sessions SET tag = 5 WHERE id = 'y'",
			}, "sessions",
		},
		"by way of a message": {
			[]string{
				"CREATE TABLE notes (n INTEGER PRIMARY KEY, m REFERENCES messages(id) ON DELETE CASCADE)",
				"ALTER TABLE sessions ADD note INTEGER REFERENCES notes(n) ON DELETE CASCADE",
				"INSERT INTO messages (id, session_id, role, timestamp) VALUES (7, 'd', 'user', 1)",
				"INSERT INTO notes VALUES (5, 7)", "UPDATE sessions SET note = 5 WHERE id = 'y'",
			}, "sessions",
		},
		"by way of rows that go with each other, which nobody follows": {
			[]string{turns, turnOf, "ALTER TABLE turns ADD before INTEGER REFERENCES turns(n) ON DELETE CASCADE"}, "turns",
		},
		"by way of a key of two columns, which nobody follows": {
			[]string{
				"CREATE TABLE turns (s TEXT REFERENCES sessions(id) ON DELETE CASCADE, n INTEGER, PRIMARY KEY (s, n))",
				"CREATE TABLE parts (p INTEGER PRIMARY KEY, s TEXT, n INTEGER, FOREIGN KEY (s, n) REFERENCES turns ON DELETE CASCADE)",
				"ALTER TABLE messages ADD part INTEGER REFERENCES parts(p) ON DELETE CASCADE",
			}, "parts",
		},
		"rows of an unknown table alone, though they go with each other": {
			[]string{turns, "ALTER TABLE turns ADD before INTEGER REFERENCES turns(n) ON DELETE CASCADE", "INSERT INTO turns VALUES (1, 'x', NULL), (2, 'y', 1)"}, "",
		},
		"a table that takes sessions along, but is not reached": {
			[]string{"CREATE TABLE projects (p INTEGER PRIMARY KEY)", "ALTER TABLE sessions ADD project INTEGER REFERENCES projects(p) ON DELETE CASCADE"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := newStore(t, append([]string{family, `INSERT INTO sessions (id, source, started_at) VALUES ('y', 'cli', 1)`}, test.statements...)...)
			plan, err := Preview(t.Context(), home.Store(), Request{SessionID: "x"})
			require.NoError(t, err)
			tx := begin(t, home)
			_, err = remove(t, tx, "x")
			if test.refused != "" {
				requireDetail(t, err, ErrUnsupported, test.refused)
				requireDetail(t, plan.Refusal, ErrUnsupported, test.refused)
				require.NoError(t, tx.Rollback())
				assert.Len(t, home.Query("SELECT id FROM sessions"), 3)
				return
			}
			require.NoError(t, err)
			require.NoError(t, plan.Refusal)
			require.NoError(t, tx.Commit())
			assert.Equal(t, []string{"y"}, home.Query("SELECT id FROM sessions"))
			home.RequireSound()
		})
	}
}

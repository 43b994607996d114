package statedb

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

const messageX = "INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (7, 'x', 'user', 'hello', 1), (8, 'y', 'user', 'world', 1)"

// foreignIndex makes an index as an Agent's process with a tokenizer of its own does: here it is made with one that
// this build has, filled, and then said to be of another. Its triggers have the Agent's names.
func foreignIndex(name string) []string {
	statements := []string{
		fmt.Sprintf("CREATE VIRTUAL TABLE %s USING fts5(content)", name),
		fmt.Sprintf("INSERT INTO %s (rowid, content) SELECT id, content FROM messages", name),
		"PRAGMA writable_schema = ON",
		fmt.Sprintf("UPDATE sqlite_schema SET sql = replace(sql, 'content)', 'content, tokenize = ''cjk_words'')') WHERE name = '%s'", name),
		"PRAGMA writable_schema = OFF",
	}
	for event, action := range map[string]string{
		"insert": "AFTER INSERT ON messages BEGIN INSERT INTO %[1]s (rowid, content) VALUES (new.id, new.content); END",
		"delete": "AFTER DELETE ON messages BEGIN DELETE FROM %[1]s WHERE rowid = old.id; END",
		"update": "AFTER UPDATE ON messages BEGIN UPDATE %[1]s SET content = new.content WHERE rowid = old.id; END",
	} {
		statements = append(statements, fmt.Sprintf("CREATE TRIGGER %[1]s_%[2]s "+action, name, event))
	}
	return statements
}

// indexed is a store with two sessions and an index whose tokenizer nobody here has.
func indexed(t *testing.T, name string, more ...string) *sidecartest.Home {
	t.Helper()
	home := newStore(t, sessionX, messageX)
	home.Exec(foreignIndex(name)...)
	home.Exec(more...)
	return home
}

func triggers(home *sidecartest.Home) []string {
	return home.Query("SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1")
}

func staleMark(home *sidecartest.Home) []string {
	return home.Query("SELECT value FROM state_meta WHERE key = 'fts_cjk_stale'")
}

// words are what the index holds, in the tables that lie under it.
func words(home *sidecartest.Home) []string {
	return home.Query("SELECT id, hex(block) FROM messages_fts_cjk_data UNION ALL SELECT id, c0 FROM messages_fts_cjk_content")
}

func TestAnIndexWithoutItsTokenizerIsSetAside(t *testing.T) {
	for name, more := range map[string]string{
		"for the first time": "SELECT 1",
		"after a rebuild":    "INSERT INTO state_meta VALUES ('fts_cjk_stale', '0')",
		"once more":          "INSERT INTO state_meta VALUES ('fts_cjk_stale', '1')",
		"partly dropped":     "DROP TRIGGER messages_fts_cjk_insert",
	} {
		t.Run(name, func(t *testing.T) {
			home := indexed(t, cjkIndex, more)
			before, held, mark := triggers(home), words(home), staleMark(home)
			tx := begin(t, home)
			removal, err := remove(t, tx, "x")
			require.NoError(t, err)
			assert.Equal(t, []string{"messages_fts_cjk"}, removal.StaleIndexes)
			require.NoError(t, tx.Rollback())
			assert.Equal(t, before, triggers(home), "with the delete, or not at all")
			assert.Equal(t, mark, staleMark(home))

			tx = begin(t, home)
			_, err = remove(t, tx, "x")
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			assert.Equal(t, []string{"1"}, staleMark(home))
			assert.Equal(t, []string{
				"messages_fts_delete", "messages_fts_insert", "messages_fts_trigram_delete", "messages_fts_trigram_insert",
			}, triggers(home), "the other indexes keep theirs")
			assert.Equal(t, []string{"8|y"}, home.Query("SELECT id, session_id FROM messages"))
			assert.Equal(t, held, words(home), "the index itself is the Agent's to rebuild")
			for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
				home.Exec(fmt.Sprintf("INSERT INTO %[1]s(%[1]s, rank) VALUES ('integrity-check', 1)", index))
			}

			tx = begin(t, home)
			removal, err = remove(t, tx, "y")
			require.NoError(t, err)
			assert.Empty(t, removal.StaleIndexes, "no trigger writes to it any more")
		})
	}
}

func TestIndexesThatCannotBeSetAside(t *testing.T) {
	for name, test := range map[string]struct {
		index string
		more  string
		names string
	}{
		"nowhere to say it":       {cjkIndex, "DROP TABLE state_meta", cjkIndex},
		"state_meta of some kind": {cjkIndex, "ALTER TABLE state_meta RENAME COLUMN value TO v", cjkIndex},
		"another index":           {"messages_fts_thai", "SELECT 1", "messages_fts_thai"},
		"a longer name":           {"messages_fts_cjk2", "SELECT 1", "messages_fts_cjk2"},
		"another trigger": {
			cjkIndex, "CREATE TRIGGER messages_fts_cjk_extra AFTER DELETE ON messages BEGIN DELETE FROM messages_fts_cjk WHERE rowid = old.id; END", cjkIndex,
		},
		"a trigger of sessions": {
			cjkIndex, `CREATE TRIGGER extra AFTER DELETE ON sessions BEGIN DELETE FROM "MESSAGES_FTS_CJK" WHERE rowid = 1; END`, cjkIndex,
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := indexed(t, test.index, test.more)
			before := triggers(home)
			tx := begin(t, home)
			removal, err := remove(t, tx, "x")
			requireDetail(t, err, ErrFullTextUnwritable, test.names)
			assert.Nil(t, removal)
			require.NoError(t, tx.Rollback())
			assert.Equal(t, before, triggers(home))
			assert.Len(t, home.Query("SELECT id FROM messages"), 2)
		})
	}
}

// An index of a module that this build lacks altogether, as a vector search may bring.
func TestAnIndexWithoutItsModule(t *testing.T) {
	home := newStore(t, sessionX, messageX)
	home.Exec(
		"PRAGMA writable_schema = ON",
		`INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
			VALUES ('table', 'messages_vec', 'messages_vec', 0, 'CREATE VIRTUAL TABLE messages_vec USING vec0(embedding float[3])')`,
		"PRAGMA writable_schema = OFF",
	)
	tx := begin(t, home)
	removal, err := remove(t, tx, "x")
	require.NoError(t, err, "no trigger writes to it")
	assert.Empty(t, removal.StaleIndexes)
	require.NoError(t, tx.Rollback())

	home.Exec("CREATE TRIGGER vec AFTER DELETE ON messages BEGIN DELETE FROM messages_vec WHERE rowid = old.id; END")
	_, err = remove(t, begin(t, home), "x")
	requireDetail(t, err, ErrFullTextUnwritable, "messages_vec")
}

// A cancel while an index is looked at says nothing about the index.
func TestACancelIsNoMissingTokenizer(t *testing.T) {
	home := indexed(t, cjkIndex)
	tx := begin(t, home)
	s, err := tx.conn.readSchema(t.Context())
	require.NoError(t, err)
	_, err = tx.conn.indexesToSetAside(cancelled(t), s)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrFullTextUnwritable)
}

func TestWrittenByTrigger(t *testing.T) {
	s := &schema{}
	for text, table := range map[string]string{
		"INSERT INTO plain(rowid) VALUES (1)": "messages", `DELETE FROM "Quoted" WHERE 1`: "messages", "UPDATE [bracketed] SET a = 1": "sessions",
		"DELETE FROM main.qualified": "messages", "INSERT INTO elsewhere VALUES (1)": "state_meta", "SELECT longer_name": "messages",
	} {
		s.triggers = append(s.triggers, trigger{strings.ToLower(text[:10]), table, "CREATE TRIGGER t BEGIN " + text + "; END"})
	}
	for name, want := range map[string]bool{
		"plain": true, "quoted": true, "bracketed": true, "qualified": true, "elsewhere": false, "longer": false, "name": false, "qual.fied": false,
	} {
		assert.Equal(t, want, s.writtenByTrigger(name), name)
	}
}

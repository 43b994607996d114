package deletion_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// small is a store with what a delete needs, but for its messages.
const small = `CREATE TABLE schema_version (version INTEGER);
	CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, parent_session_id TEXT, model_config TEXT, started_at REAL NOT NULL,
		ended_at REAL, end_reason TEXT, title TEXT);
	CREATE TABLE compression_locks (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL, expires_at REAL NOT NULL);
	CREATE TABLE session_turn_leases (conversation_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL, expires_at REAL NOT NULL);`

// shape is a store, what it holds, what happens to it between a kept delete of P and the restore, and what is there afterwards.
type shape struct {
	name, schema, before, meanwhile, query string
	want                                   []string
	refused                                string // what a restore says that changes nothing
}

const (
	ofP    = `INSERT INTO sessions (id, source, started_at, title) VALUES ('P', 'cli', 1, 'a title');`
	ofLive = `INSERT INTO sessions (id, source, started_at, title) VALUES ('LIVE', 'cli', 2, 'a title');`
	inP    = `INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (7, 'P', 'user', 'one', 1), (8, 'P', 'user', 'two', 1);`
	// whole is a message of each store that has a prompt and a use of a model beside.
	whole = ofP + inP + `INSERT INTO system_prompts VALUES ('h', 'zarquon'); UPDATE sessions SET system_prompt_hash = 'h';
		INSERT INTO session_model_usage (session_id, model) VALUES ('P', 'm');`
	numbered = `SELECT id, content FROM messages WHERE session_id LIKE 'restored-%' ORDER BY id`
)

var shapes = []shape{
	{
		name: "without a rowid", schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL) WITHOUT ROWID`,
		before: ofP + inP, meanwhile: `INSERT INTO messages VALUES (7, 'X', 'user', 'of another', 1)`, query: numbered, want: []string{"8|one", "9|two"},
	},
	{
		name: "a key that is no rowid", schema: `CREATE TABLE messages (id INT PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		before: ofP + inP, meanwhile: `INSERT INTO messages VALUES (8, 'X', 'user', 'of another', 1)`, query: numbered, want: []string{"9|one", "10|two"},
	},
	{
		name: "a key that counts down", schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY DESC, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		before: ofP + inP, query: numbered, want: []string{"1|one", "2|two"},
	},
	{
		name: "no key", schema: `CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		before: ofP + inP, meanwhile: `INSERT INTO messages VALUES (7, 'X', 'user', 'of another', 1)`, query: numbered, want: []string{"8|one", "9|two"},
	},
	{
		name: "a key of text", schema: `CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL) WITHOUT ROWID`,
		before: ofP + inP, query: numbered, want: []string{"7|one", "8|two"},
	},
	{
		name: "a key within the session", schema: `CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content TEXT, timestamp REAL, PRIMARY KEY (session_id, id))`,
		before: ofP + inP, query: numbered, want: []string{"7|one", "8|two"},
	},
	{
		name: "no number left", schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		before: ofP + inP, meanwhile: `INSERT INTO messages VALUES (9223372036854775807, 'X', 'user', 'of another', 1)`,
		refused: "the store has no numbers left for rows of messages",
	},
	{
		name: "names beyond ASCII", before: ofP + `INSERT INTO messages VALUES (7, 'P', 'user', 'one', 1, 'large', 'small', 'stranger', 'key')`,
		schema: `CREATE TABLE messages (ID INTEGER PRIMARY KEY, Session_ID TEXT, role TEXT, content TEXT, timestamp REAL, "É" TEXT, "é" TEXT, "ſeſſion_id" TEXT, "` + "\u212a" + `" TEXT)`,
		query:  `SELECT content, "É", "é", "ſeſſion_id", "` + "\u212a" + `" FROM messages WHERE session_id LIKE 'restored-%'`, want: []string{"one|large|small|stranger|key"},
	},
	{
		name: "a schema that replaces", before: ofP + inP,
		schema:    `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT UNIQUE ON CONFLICT REPLACE, timestamp REAL)`,
		meanwhile: `INSERT INTO messages VALUES (9, 'X', 'user', 'two', 1)`, refused: "restore a row of messages: UNIQUE constraint failed: messages.content",
	},
	{
		name: "a schema that ignores", before: ofP + inP,
		schema:    `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT UNIQUE ON CONFLICT IGNORE, timestamp REAL)`,
		meanwhile: `INSERT INTO messages VALUES (9, 'X', 'user', 'two', 1)`, refused: "restore a row of messages: UNIQUE constraint failed: messages.content",
	},
	{
		name: "a trigger that replaces", before: ofP + inP + `CREATE TABLE last (one PRIMARY KEY, id);
			CREATE TRIGGER note AFTER INSERT ON messages BEGIN INSERT OR REPLACE INTO last VALUES (1, new.id); END`,
		schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		query:  `SELECT id FROM last`, want: []string{"2"},
	},
	{
		name: "a use of a model that is kept out", before: whole,
		meanwhile: `CREATE TRIGGER out BEFORE INSERT ON session_model_usage BEGIN SELECT RAISE(IGNORE); END`,
		refused:   "a trigger of the store keeps rows of session_model_usage from coming back",
	},
	{
		name: "a prompt that is kept out", before: whole,
		meanwhile: `DELETE FROM system_prompts; CREATE TRIGGER out BEFORE INSERT ON system_prompts BEGIN SELECT RAISE(IGNORE); END`,
		refused:   "a trigger of the store keeps rows of system_prompts from coming back",
	},
	{
		name: "a prompt that goes again", before: whole,
		meanwhile: `DELETE FROM system_prompts; CREATE TRIGGER out AFTER INSERT ON messages BEGIN UPDATE sessions SET system_prompt_hash = NULL; DELETE FROM system_prompts; END`,
		refused:   "a trigger of the store keeps rows of system_prompts from coming back",
	},
	{
		name: "a prompt that another has", before: whole,
		meanwhile: `DELETE FROM system_prompts; CREATE UNIQUE INDEX u ON system_prompts(prompt); INSERT INTO system_prompts VALUES ('other', 'zarquon')`,
		refused:   "restore a row of system_prompts: UNIQUE constraint failed: system_prompts.prompt",
	},
	{
		name: "a prompt that is too short", before: whole,
		meanwhile: `DROP TABLE system_prompts; CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT CHECK (length(prompt) > 9))`,
		refused:   "restore a row of system_prompts: CHECK constraint failed: length(prompt) > 9",
	},
	{
		name: "prompts that are not unique", before: ofP + inP + `INSERT INTO system_prompts VALUES ('h', 'zarquon'); UPDATE sessions SET system_prompt_hash = 'h'`,
		schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL);
			ALTER TABLE sessions ADD COLUMN system_prompt_hash TEXT; CREATE TABLE system_prompts (hash TEXT, prompt TEXT)`,
		meanwhile: `INSERT INTO system_prompts SELECT 'h', 'zarquon' WHERE NOT EXISTS (SELECT 1 FROM system_prompts)`,
		query:     `SELECT hash, prompt FROM system_prompts`, want: []string{"h|zarquon"},
	},
	{
		name: "a use of models without sessions", before: whole,
		meanwhile: `DROP TABLE session_model_usage; CREATE TABLE session_model_usage (model TEXT)`,
		query:     `SELECT count(*) FROM session_model_usage`, want: []string{"0"},
	},
	{
		name: "no text", schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		before: ofP + inP, meanwhile: `ALTER TABLE messages RENAME COLUMN content TO body`,
		refused: "the store has no messages.content any more, and what was said would be lost",
	},
	{
		name: "no text that was none", schema: `CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`,
		before: ofP + inP + `UPDATE messages SET content = nullif('', content) WHERE id = 7; UPDATE messages SET content = NULL WHERE id = 8;
			UPDATE messages SET content = '' WHERE id = 7`,
		meanwhile: `ALTER TABLE messages DROP COLUMN content`, query: `SELECT count(*) FROM messages`, want: []string{"2"},
	},
	{
		name: "a trigger that quotes", before: whole,
		meanwhile: `CREATE TRIGGER quote BEFORE INSERT ON messages BEGIN SELECT json_extract('{}', new.content); END`,
		refused:   "restore a row of messages: SQLite gave the error 1",
	},
	{
		name: "a trigger that refuses", before: whole,
		meanwhile: `CREATE TRIGGER quote BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'a title'); END`,
		refused:   "restore a row of sessions: a trigger of the store refuses it",
	},
}

// TestRestoreInStoresOfOtherShapes: what comes back is all there and displaces nothing, whatever a schema does with it; where that cannot be,
// nothing is changed, and no error tells what was said.
func TestRestoreInStoresOfOtherShapes(t *testing.T) {
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			schema := small + s.schema
			if s.schema == "" {
				schema = fixtures.LegacySchema
			}
			home.Create(schema, s.before)
			result := p.Delete(home, "P", map[string]any{"keep_days": 1})
			require.True(t, result.OK, result.Detail)
			operation := entriesOf(t, p, home)["P"]
			home.Exec(s.meanwhile)
			before := home.Tables()
			p.Request("restore", "trash.restore", map[string]any{"profile_home": home.Path, "operation_id": operation})
			reply := p.Reply()
			if s.refused != "" {
				require.NotNil(t, reply.Error, string(reply.Result))
				assert.Equal(t, s.refused, reply.Error.Message)
				assert.Equal(t, "store_unsupported", condition(t, reply))
				assert.Equal(t, before, home.Tables())
				assert.Len(t, trashFiles(t, home), 1)
				return
			}
			require.Nil(t, reply.Error)
			var back struct{ Restored map[string]string }
			require.NoError(t, json.Unmarshal(reply.Result, &back))
			assert.Len(t, back.Restored, 1)
			assert.Equal(t, s.want, home.Query(s.query))
			assert.Empty(t, trashFiles(t, home))
		})
	}
}

// TestATitleThatAnotherSessionHas is given a number where the schema would have the other one go for it.
func TestATitleThatAnotherSessionHas(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(small+`DROP TABLE sessions; CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, parent_session_id TEXT, model_config TEXT,
		started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, title TEXT UNIQUE ON CONFLICT REPLACE);
		CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL)`, ofP+inP)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 1}).OK)
	home.Exec(ofLive)
	_, why := restored(t, p, home, entriesOf(t, p, home)["P"])
	require.Empty(t, why)
	assert.Equal(t, []string{"a title", "a title #2"}, home.Query("SELECT title FROM sessions ORDER BY title"))
}

// TestNothingIsNoId: what names nothing does not come back naming a session whose id is empty.
func TestNothingIsNoId(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, `INSERT INTO sessions (id, source, started_at, model_config, parent_session_id) VALUES
		('P', 'cli', 1, '{"_reset_from": null}', NULL), ('', 'cli', 2, '{"_delegate_from": "P"}', 'P')`)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	require.Len(t, p.Delete(home, "P", map[string]any{"keep_days": 1}).DeletedIDs, 2)
	ids, why := restored(t, p, home, entriesOf(t, p, home)["P,"])
	require.Empty(t, why)
	assert.Equal(t, []string{"|{}", ids["P"] + `|{"_delegate_from": "` + ids["P"] + `"}`},
		home.Query("SELECT coalesce(parent_session_id, ''), model_config FROM sessions ORDER BY started_at"))
}

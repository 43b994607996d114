package deletion_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// oddStore is a change of the Agent's schema, beside what a store of it holds: '5' has a message, a use of a model and a system prompt.
type oddStore struct {
	name, from, to, more string
	refused              bool
}

var oddStores = []oddStore{
	{name: "as it is"},
	{name: "messages by integers", from: "session_id TEXT NOT NULL REFERENCES sessions(id),", to: "session_id INTEGER NOT NULL,", refused: true},
	{name: "messages by numbers", from: "session_id TEXT NOT NULL REFERENCES sessions(id),", to: "session_id NUMERIC NOT NULL,", refused: true},
	{name: "messages by whatever", from: "session_id TEXT NOT NULL REFERENCES sessions(id),", to: "session_id NOT NULL,"},
	{
		name: "use by integers", refused: true,
		from: "session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,\n  model", to: "session_id INTEGER NOT NULL,\n  model",
	},
	{
		name: "use by whatever",
		from: "session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,\n  model", to: "session_id NOT NULL,\n  model",
	},
	{
		name: "a session twice", from: "id TEXT PRIMARY KEY,\n  source", to: "id TEXT,\n  source",
		more: "INSERT INTO sessions (id, source, started_at) VALUES ('5', 'cli', 9)", refused: true,
	},
	{
		name: "a blob beside it", from: "id TEXT PRIMARY KEY,\n  source", to: "id TEXT,\n  source",
		more: "INSERT INTO sessions (id, source, started_at) VALUES (X'35', 'cli', 9)",
	},
	{name: "other names", from: "id TEXT PRIMARY KEY,\n  source", to: "ID TEXT PRIMARY KEY,\n  source"},
	{name: "prompts by numbers", from: "system_prompts (hash TEXT", to: "system_prompts (hash NUMERIC"},
	{
		name: "messages without ids", from: "id INTEGER PRIMARY KEY AUTOINCREMENT,\n  session_id TEXT", to: "session_id TEXT",
		more: "without indexes",
	},
	{
		name: "messages without numbers", from: "id INTEGER PRIMARY KEY AUTOINCREMENT,\n  session_id TEXT", to: "session_id TEXT",
		more: "without rowid",
	},
	{name: "odd cells", more: `UPDATE messages SET content = CAST(X'61ff00' AS TEXT), timestamp = 'never', tool_calls = X'00', reasoning = 9e999`},
	{name: "an odd column", more: "ALTER TABLE sessions ADD COLUMN \"a \"\"b\"\"\nc\" DEFAULT 'x'"},
}

var references = regexp.MustCompile(`(,\s+FOREIGN KEY \(parent_session_id\))? REFERENCES sessions\(id\)( ON DELETE \w+)?`)

func (o oddStore) home(t *testing.T, schema string) *sidecartest.Home {
	t.Helper()
	require.True(t, o.from == "" || strings.Contains(schema, o.from), "%q", o.from)
	schema = strings.Replace(schema, o.from, o.to, 1)
	if strings.Contains(o.to, "id TEXT,") { // which no foreign key can lead to
		schema = references.ReplaceAllString(schema, "")
	}
	more := o.more
	if strings.HasPrefix(o.more, "without ") {
		before, rest, _ := strings.Cut(schema, "-- Full-text indexes")
		before = strings.Replace(before, "CREATE INDEX idx_messages_session_id ON messages(session_id, id);", "", 1)
		_, ledger, _ := strings.Cut(rest, "-- A release that predates")
		if ledger != "" {
			before += "-- A release that predates" + ledger
		}
		if o.more == "without rowid" {
			before = strings.Replace(before, "media_content TEXT\n);", "media_content TEXT,\n  PRIMARY KEY (session_id, timestamp)\n) WITHOUT ROWID;", 1)
		}
		schema, more = before, "SELECT 1"
	}
	home := sidecartest.NewHome(t)
	home.Create(schema, "PRAGMA foreign_keys = OFF", `INSERT INTO system_prompts VALUES ('7', 'be kind');
		INSERT INTO sessions (id, source, started_at, system_prompt_hash) VALUES ('5', 'cli', 1, '7'), ('W', 'cli', 1, NULL);
		INSERT INTO messages (session_id, role, content, timestamp) VALUES ('5', 'user', 'zarquon', 1), ('W', 'user', 'of W', 1);
		INSERT INTO session_model_usage VALUES ('5', 'm', 3)`, more)
	return home
}

// TestAKeptDeleteOfAnOddStore: whatever the shape of a store, and whatever SQLite takes for the id that was asked for, a kept delete
// changes nothing, or what it took comes back. A preview says which, and in many at once the others go (contract 5d, 10.1).
func TestAKeptDeleteOfAnOddStore(t *testing.T) {
	for path, schema := range map[string]string{"legacy": fixtures.LegacySchema, "canonical": fixtures.RuntimeSchema} {
		for _, o := range oddStores {
			t.Run(path+","+o.name, func(t *testing.T) {
				t.Parallel()
				home := o.home(t, schema)
				p := sidecartest.Start(t, sidecartest.Plain)
				p.Handshake()
				if reason := previewed(t, p, home, "5", nil).Reason; reason != "" {
					require.Equal(t, "store_unsupported", reason)
					require.True(t, o.refused && path == "canonical", "%s", o.name)
					return
				}
				before := home.Tables()
				seen := previewed(t, p, home, "5", map[string]any{"keep_days": 1})
				result := p.Delete(home, "5", map[string]any{"keep_days": 1})
				assert.Equal(t, seen.Reason, result.Reason)
				assert.Equal(t, seen.Detail, result.Detail)
				assert.Equal(t, o.refused, seen.Trash == nil)
				if o.refused {
					require.Equal(t, "io_error", result.Reason, result.Detail)
					require.Equal(t, before, home.Tables())
					require.Empty(t, trashFiles(t, home))
					requireOthersGo(t, p, home)
					require.True(t, p.Delete(home, "5").OK, "without that wish it is deleted")
					return
				}
				require.True(t, result.OK, "%s: %s", result.Reason, result.Detail)
				ids, why := restored(t, p, home, entriesOf(t, p, home)["5"])
				require.Empty(t, why, p.Stderr())
				after := home.Tables()
				for _, table := range []string{"sessions", "messages", "session_model_usage", "system_prompts"} {
					require.Len(t, after[table], len(before[table]), table)
				}
				require.Equal(t, []string{"zarquon"}, textOf(home.Query("SELECT content FROM messages WHERE session_id = ?", ids["5"])))
				require.Equal(t, []string{"be kind"}, home.Query(
					"SELECT prompt FROM system_prompts WHERE hash = (SELECT system_prompt_hash FROM sessions WHERE id = ?)", ids["5"]))
			})
		}
	}
}

// textOf stands for a content that the test of odd cells has changed.
func textOf(contents []string) []string {
	for i, content := range contents {
		if content == "a\xff\x00" {
			contents[i] = "zarquon"
		}
	}
	return contents
}

// requireOthersGo deletes many at once, of which one cannot be kept.
func requireOthersGo(t *testing.T, p *sidecartest.Process, home *sidecartest.Home) {
	t.Helper()
	p.Request("bulk", "state_db.delete_sessions", map[string]any{"profile_home": home.Path, "session_ids": []string{"5", "W"}, "keep_days": 1})
	var reply sidecartest.Reply
	for reply = p.Reply(); reply.Result == nil; reply = p.Reply() {
		require.Nil(t, reply.Error)
	}
	var bulk struct {
		Results []struct {
			SessionID string `json:"session_id"`
			OK        bool
			Reason    string
		}
	}
	require.NoError(t, json.Unmarshal(reply.Result, &bulk))
	require.Len(t, bulk.Results, 2)
	assert.Equal(t, "io_error", bulk.Results[0].Reason)
	assert.True(t, bulk.Results[1].OK, "%+v", bulk.Results[1])
	assert.Equal(t, []string{"5"}, home.Query("SELECT DISTINCT CAST(id AS TEXT) FROM sessions"))
}

// preview is what a delete would do, as far as the trash is concerned.
type preview struct {
	Reason, Detail string
	Trash          *struct{ Bytes int64 }
}

func previewed(t *testing.T, p *sidecartest.Process, home *sidecartest.Home, id string, more map[string]any) (seen preview) {
	t.Helper()
	params := map[string]any{"profile_home": home.Path, "session_id": id}
	maps.Copy(params, more)
	p.Request("preview", "state_db.preview_delete", params)
	reply := p.Reply()
	require.Nil(t, reply.Error, p.Stderr())
	require.NoError(t, json.Unmarshal(reply.Result, &seen))
	return seen
}

// TestAPreviewOfAKeptDelete refuses what the delete refuses, and promises nothing where nothing would be kept.
func TestAPreviewOfAKeptDelete(t *testing.T) {
	kept := map[string]any{"keep_days": 1}
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, keptSession, `INSERT INTO sessions (id, source, started_at, model_config)
		VALUES (CAST(X'64ff65' AS TEXT), 'cli', 2, '{"_delegate_from": "Q"}'), ('Q', 'cli', 3, NULL)`)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	assert.Nil(t, previewed(t, p, home, "nobody", kept).Trash)
	assert.Nil(t, previewed(t, p, home, "P", nil).Trash)
	assert.NotNil(t, previewed(t, p, home, "P", kept).Trash)
	seen := previewed(t, p, home, "Q", kept)
	assert.Equal(t, "io_error", seen.Reason)
	assert.Contains(t, seen.Detail, `the id "d\xffe" cannot be kept`)
	assert.Nil(t, seen.Trash)
	assert.Empty(t, previewed(t, p, home, "Q", nil).Reason)
	home.Write("trash", "a file")
	before := home.Tables()
	for _, id := range []string{"P", "nobody"} {
		seen = previewed(t, p, home, id, kept)
		result := p.Delete(home, id, kept)
		assert.Equal(t, "io_error", seen.Reason, id)
		assert.Equal(t, result.Reason, seen.Reason, id)
		assert.Equal(t, result.Detail, seen.Detail, id)
	}
	assert.Empty(t, previewed(t, p, home, "P", nil).Reason)
	assert.Equal(t, before, home.Tables())
}

// estimateFactor is how far the size that a preview tells may lie from what the entry has: the text of people and tools, and what cannot
// be made smaller.
const estimateFactor = 10

// TestTheEstimateOfAKeptDelete holds what a preview says of the size against the entry.
func TestTheEstimateOfAKeptDelete(t *testing.T) {
	for name, text := range map[string]string{
		"words":  "'We talked about the ' || hex(i * 7919) || ' of it for ' || i || ' minutes, and then the weather turned and all went home.'",
		"random": "hex(randomblob(700))",
		"short":  "'ok'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := sidecartest.NewHome(t)
			home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 1)`, fmt.Sprintf(
				`INSERT INTO messages (session_id, role, content, timestamp) WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
				SELECT 'P', 'user', %s, 1790000000.25 + i FROM n`, text))
			p := sidecartest.Start(t, sidecartest.Plain)
			p.Handshake()
			estimate := float64(previewed(t, p, home, "P", map[string]any{"keep_days": 1}).Trash.Bytes)
			require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 1}).OK)
			info, err := os.Stat(filepath.Join(home.Path, "trash", trashFiles(t, home)[0]))
			require.NoError(t, err)
			t.Logf("%.0f bytes were told, and there are %d", estimate, info.Size())
			assert.Less(t, estimate, estimateFactor*float64(info.Size()))
			assert.Less(t, float64(info.Size()), estimateFactor*estimate)
		})
	}
}

package deletion_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// answer waits for the answer to a request, and gives the data of the stream frames before it.
func answer(t *testing.T, p *sidecartest.Process) (reply sidecartest.Reply, frames []json.RawMessage) {
	t.Helper()
	for {
		reply := p.Reply()
		if reply.Method != "stream" {
			return reply, frames
		}
		var params struct {
			Event string          `json:"event"`
			Data  json.RawMessage `json:"data"`
		}
		require.NoError(t, json.Unmarshal(reply.Params, &params))
		require.Equal(t, "progress", params.Event)
		frames = append(frames, params.Data)
	}
}

func condition(t *testing.T, reply sidecartest.Reply) string {
	t.Helper()
	require.NotNil(t, reply.Error, "%s", reply.Result)
	var data struct {
		Condition string `json:"condition"`
	}
	require.NoError(t, json.Unmarshal(reply.Error.Data, &data))
	return data.Condition
}

type exportResult struct {
	Path  string         `json:"path"`
	Bytes int64          `json:"bytes"`
	IDs   []string       `json:"ids"`
	Rows  map[string]int `json:"rows"`
}

func export(t *testing.T, p *sidecartest.Process, home *sidecartest.Home, id, to string) sidecartest.Reply {
	t.Helper()
	p.Request("export", "state_db.export_conversation", map[string]any{
		"profile_home": home.Path, "session_id": id, "to": to, "include_compression_lineage": true,
	})
	reply, frames := answer(t, p)
	require.Empty(t, frames)
	return reply
}

func exported(t *testing.T, p *sidecartest.Process, home *sidecartest.Home, id, to string) (result exportResult) {
	t.Helper()
	reply := export(t, p, home, id, to)
	require.Nil(t, reply.Error, "%s: %s", id, p.Stderr())
	require.NoError(t, json.Unmarshal(reply.Result, &result))
	return result
}

// odd changes the legacy schema so that every kind of value, declaration and name is there.
const odd = `
ALTER TABLE sessions ADD COLUMN "a ""name""" DATETIME;
DROP INDEX idx_messages_session_id;
ALTER TABLE messages ADD COLUMN "when" TIMESTAMP;
ALTER TABLE messages ADD COLUMN flag BOOLEAN;
ALTER TABLE messages ADD COLUMN anything;
ALTER TABLE messages ADD COLUMN twice GENERATED ALWAYS AS (id * 2) VIRTUAL;
INSERT INTO system_prompts VALUES ('h1', 'used by both'), ('h0', 'used by C'), ('h2', 'used by nobody here');
INSERT INTO sessions (id, source, model_config, parent_session_id, started_at, ended_at, end_reason, system_prompt_hash, "a ""name""") VALUES
 ('P', 'cli', NULL, NULL, 1, 1790000000, 'compression', 'h1', 1790000000),
 ('C', 'cli', NULL, 'P', 1790000000, NULL, NULL, 'h0', '2026-01-01'),
 ('D', 'cli', '{"_delegate_from": "C"}', 'C', 2.5, NULL, NULL, 'h1', 'not a time'),
 ('other', 'cli', NULL, NULL, 3, NULL, NULL, 'h2', NULL);
INSERT INTO messages (id, session_id, role, content, timestamp) SELECT 100, 'other', 'user', 'not this', 1;
INSERT INTO messages (id, session_id, role, content, timestamp, "when", flag, anything) VALUES
 (9, 'P', 'user', 'later', 1, 1790000000, 1, 9007199254740993),
 (3, 'P', 'user', 'äß漢😀 "\/' || char(0, 1, 9, 10, 13, 127, 8232, 65533, 65279), 2, 1790000000000, 7, -9223372036854775808),
 (4, 'C', 'user', CAST(x'61ff62c3' AS TEXT), 3, 'soon', 'yes', x''),
 (5, 'C', 'tool', '', 4, NULL, NULL, x'00ff7f'),
 (7, 'D', 'user', NULL, 5, 0.5, 0.0, 1790000000.0),
 (6, 'D', 'user', '{"a": 1}', 6, -1, -1, 9e999), (8, 'D', 'user', 'x', 7, 1e15, 0, -9e999),
 (10, 'D', 'user', 'x', 8, 2.0, 0, 0.1), (11, 'D', 'user', 'x', 9, 3, 0, 1e-300);
INSERT INTO session_model_usage VALUES ('C', 'b', 2), ('C', 'a', 1), ('other', 'a', 3);
INSERT INTO telegram_dm_topic_bindings VALUES ('c', 't', 'D'), ('c', 'u', 'other');
INSERT INTO compression_locks VALUES ('P', 'somebody', 1, 9e9), ('other', 'x', 1, 2);`

// exportDocument is what an export has written. Its rows keep the order of their columns.
type exportDocument struct {
	Format     int               `json:"format"`
	ExportedAt string            `json:"exported_at"`
	Requested  string            `json:"requested"`
	IDs        []string          `json:"ids"`
	Sessions   []json.RawMessage `json:"sessions"`
	Messages   []json.RawMessage `json:"messages"`
	Usage      []json.RawMessage `json:"session_model_usage"`
	Bindings   []json.RawMessage `json:"telegram_dm_topic_bindings"`
	Locks      []json.RawMessage `json:"compression_locks"`
	Prompts    []json.RawMessage `json:"system_prompts"`
}

func (d *exportDocument) tables() map[string][]json.RawMessage {
	return map[string][]json.RawMessage{
		"sessions": d.Sessions, "messages": d.Messages, "session_model_usage": d.Usage,
		"telegram_dm_topic_bindings": d.Bindings, "compression_locks": d.Locks, "system_prompts": d.Prompts,
	}
}

func readDocument(t *testing.T, path string) *exportDocument {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	document := &exportDocument{}
	require.NoError(t, decoder.Decode(document))
	return document
}

// TestExportIsExact reads the document as somebody else would, puts the rows into a store with the same tables, and
// compares every value with its type; and the order of the rows.
func TestExportIsExact(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, odd)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	to := filepath.Join(t.TempDir(), "export.json")
	result := exported(t, p, home, "P", to)

	assert.Equal(t, to, result.Path)
	assert.Equal(t, []string{"C", "D", "P"}, result.IDs)
	info, err := os.Lstat(to)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), result.Bytes)
	assert.Equal(t, os.FileMode(0o600), info.Mode())

	document := readDocument(t, to)
	assert.Equal(t, 1, document.Format)
	assert.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, document.ExportedAt)
	assert.Equal(t, "P", document.Requested)
	assert.Equal(t, result.IDs, document.IDs)

	selected := map[string]string{
		"sessions":                   `WHERE id <> 'other' ORDER BY instr('CDP', id)`,
		"messages":                   `WHERE session_id <> 'other' ORDER BY instr('CDP', session_id), id`,
		"session_model_usage":        `WHERE session_id <> 'other' ORDER BY instr('CDP', session_id), model`,
		"telegram_dm_topic_bindings": `WHERE session_id <> 'other'`,
		"compression_locks":          `WHERE session_id <> 'other'`,
		"system_prompts":             `WHERE hash <> 'h2' ORDER BY hash`,
	}
	copied := copyOf(t, document.tables())
	for table, rows := range document.tables() {
		assert.Equal(t, len(rows), result.Rows[table], table)
		want := spelled(t, home.Open(), table, selected[table])
		require.NotEmpty(t, want)
		assert.Equal(t, want, spelled(t, copied, table, "ORDER BY rowid"), table)
	}

	again := filepath.Join(t.TempDir(), "again.json")
	exported(t, p, home, "P", again)
	document.ExportedAt = ""
	second := readDocument(t, again)
	second.ExportedAt = ""
	assert.Equal(t, document, second, "the order is stable")
}

// spelled gives each row of a table, each value with its type and, for text and blobs, its bytes.
func spelled(t *testing.T, db *sql.DB, table, which string) []string {
	t.Helper()
	cells := []string{}
	for _, column := range texts(t, db, "SELECT name FROM pragma_table_xinfo('"+table+"') ORDER BY cid") {
		name := `"` + strings.ReplaceAll(column, `"`, `""`) + `"`
		cells = append(cells, fmt.Sprintf("typeof(%[1]s) || ' ' || coalesce(CASE WHEN typeof(%[1]s) IN ('text', 'blob') "+
			"THEN hex(%[1]s) ELSE format('%%!.17g', %[1]s) || CASE typeof(%[1]s) WHEN 'integer' THEN ' ' || %[1]s ELSE '' END END, '')", name))
	}
	return texts(t, db, "SELECT "+strings.Join(cells, "||','||")+" FROM "+table+" "+which)
}

func texts(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err, query)
	defer func() { _ = rows.Close() }()
	list := []string{}
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		list = append(list, text)
	}
	require.NoError(t, rows.Err())
	return list
}

// copyOf makes a store whose tables have the exported columns, none declared, and the exported rows.
func copyOf(t *testing.T, tables map[string][]json.RawMessage) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "copy.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for table, rows := range tables {
		for i, row := range rows {
			columns, values := cellsOf(t, row)
			list := strings.Join(columns, ",")
			if i == 0 {
				_, err := db.Exec("CREATE TABLE " + table + " (" + list + ")")
				require.NoError(t, err)
			}
			_, err := db.Exec("INSERT INTO " + table + " VALUES (" + strings.Join(values, ",") + ")")
			require.NoError(t, err)
		}
	}
	return db
}

// cellsOf reads a row's columns, in their order, and its values as SQL writes them.
func cellsOf(t *testing.T, row json.RawMessage) (columns, values []string) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(row))
	decoder.UseNumber()
	_, err := decoder.Token()
	require.NoError(t, err)
	for decoder.More() {
		column, err := decoder.Token()
		require.NoError(t, err)
		columns = append(columns, `"`+strings.ReplaceAll(column.(string), `"`, `""`)+`"`)
		var value any
		require.NoError(t, decoder.Decode(&value))
		values = append(values, literal(t, value))
	}
	return columns, values
}

func literal(t *testing.T, value any) string {
	t.Helper()
	switch v := value.(type) {
	case nil:
		return "NULL"
	case json.Number:
		return v.String()
	case string:
		return fmt.Sprintf("CAST(x'%x' AS TEXT)", v)
	case map[string]any:
		data, err := base64.StdEncoding.DecodeString(v["base64"].(string))
		require.NoError(t, err)
		if v["text"] == true {
			return fmt.Sprintf("CAST(x'%x' AS TEXT)", data)
		}
		return fmt.Sprintf("x'%x'", data)
	}
	require.Fail(t, "an unexpected value", "%v", value)
	return ""
}

// TestExportCrashAtEveryPoint kills the real process in the middle: there is no file, or all of it.
func TestExportCrashAtEveryPoint(t *testing.T) {
	for _, point := range faultpoint.OfExport() {
		exportCrashAt(t, "legacy", point, fixtures.LegacySchema, family)
		exportCrashAt(t, "canonical", point, fixtures.RuntimeSchema, family, history)
	}
}

func exportCrashAt(t *testing.T, path string, point faultpoint.Point, statements ...string) {
	t.Run(path+","+string(point), func(t *testing.T) {
		t.Parallel()
		home := homeWith(t, false, []string{"P", "D", "LIVE"}, statements...)
		folder := t.TempDir()
		p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL="+string(point)))
		p.Handshake()
		to := filepath.Join(folder, "export.json")
		p.Request(1, "state_db.export_conversation", map[string]any{"profile_home": home.Path, "session_id": "P", "to": to})
		require.Equal(t, -1, p.Wait(), "the process passed the point, or never came to it: %s", p.Stderr())
		require.Equal(t, stands, fateOf(t, home, path == "canonical", "P", "D"))
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		if point != faultpoint.ExportNamed {
			assert.Empty(t, entries)
			return
		}
		require.Len(t, entries, 1)
		text, err := os.ReadFile(to)
		require.NoError(t, err)
		var whole struct{ Messages []json.RawMessage }
		require.NoError(t, json.Unmarshal(text, &whole))
		assert.Len(t, whole.Messages, 2)
	})
}

// TestExportLeavesNothingWhereItFails runs out of space, and is cancelled, half-way.
func TestExportLeavesNothingWhereItFails(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, family, `INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT 'P', 'user', hex(randomblob(10000)), i FROM n`)
	folder := t.TempDir()
	to := filepath.Join(folder, "export.json")

	small := sidecartest.Start(t, sidecartest.Plain, sidecartest.Shell(`ulimit -f 200; exec "$0"`)) // blocks of 512 bytes
	small.Handshake()
	reply := export(t, small, home, "P", to)
	assert.Equal(t, "io_error", condition(t, reply))
	assert.Contains(t, reply.Error.Message, "file too large")
	open := small.Descriptors()
	for range 5 {
		assert.Equal(t, "io_error", condition(t, export(t, small, home, "P", to)))
	}
	assert.Equal(t, open, small.Descriptors())

	for _, point := range []string{"export_row_written#20", "export_written"} {
		held := t.TempDir()
		p := sidecartest.Start(t, sidecartest.FaultPoints,
			sidecartest.Env("SIDECAR_FAULT_WAIT="+point, "SIDECAR_FAULT_DIR="+held))
		p.Handshake()
		p.Request(1, "state_db.export_conversation", map[string]any{"profile_home": home.Path, "session_id": "P", "to": to})
		name, _, _ := strings.Cut(point, "#")
		waitFor(t, filepath.Join(held, name+".reached"))
		p.Request(2, "rpc.cancel", map[string]any{"id": 1})
		require.JSONEq(t, `{"cancelled":true}`, string(p.Reply().Result))
		require.NoError(t, os.WriteFile(filepath.Join(held, name+".go"), nil, 0o600))
		reply = p.Reply()
		assert.Equal(t, "cancelled", condition(t, reply))
		assert.Equal(t, -32001, reply.Error.Code)
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// waitFor waits until the process is held at a point.
func waitFor(t *testing.T, path string) {
	t.Helper()
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err == nil }, time.Minute, 5*time.Millisecond)
}

// TestExportOfMany has more ids than one statement takes.
func TestExportOfMany(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, `
		INSERT INTO system_prompts VALUES ('h', 'p');
		INSERT INTO sessions (id, source, started_at) VALUES ('P', 'cli', 1);
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
		INSERT INTO sessions (id, source, model_config, parent_session_id, started_at, system_prompt_hash)
		SELECT 'D' || i, 'cli', '{"_delegate_from": "P"}', 'P', i, 'h' FROM n;
		INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', id, 1 FROM sessions`)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	to := filepath.Join(t.TempDir(), "export.json")
	result := exported(t, p, home, "P", to)
	require.Len(t, result.IDs, 1201)
	assert.Equal(t, 1201, result.Rows["messages"])
	document := readDocument(t, to)
	assert.Len(t, document.Prompts, 1)
	var order []string
	for _, row := range document.Messages {
		var m struct {
			SessionID string `json:"session_id"`
		}
		require.NoError(t, json.Unmarshal(row, &m))
		order = append(order, m.SessionID)
	}
	assert.True(t, slices.Equal(result.IDs, order))
}

package sidecartest

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver of the stores that the tests make
	"github.com/stretchr/testify/require"
)

// Home is an Agent profile's folder of one test.
type Home struct {
	t    testing.TB
	Path string
}

// NewHome makes an empty home with a sessions folder.
func NewHome(t testing.TB) *Home {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return NewHomeAt(t, filepath.Join(path, "home"))
}

// NewHomeAt makes an empty home with a sessions folder at a path.
func NewHomeAt(t testing.TB, path string) *Home {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(path, "sessions"), 0o700))
	Named(path)
	return &Home{t, path}
}

// Store is the path of the home's store.
func (h *Home) Store() string { return filepath.Join(h.Path, "state.db") }

// Create makes the store from SQL, in WAL mode.
func (h *Home) Create(statements ...string) {
	h.t.Helper()
	h.Exec(append([]string{"PRAGMA journal_mode = WAL"}, statements...)...)
}

// Open opens the store as an Agent would; it is closed when the test ends.
func (h *Home) Open() *sql.DB {
	h.t.Helper()
	db := openStore(h.t, h.Store(), "rwc")
	h.t.Cleanup(func() {
		remember(db)
		_ = db.Close()
	})
	return db
}

func openStore(t testing.TB, path, mode string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", storeURI(path, "_busy_timeout=10000&mode="+mode))
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	return db
}

// Exec runs statements in the store.
func (h *Home) Exec(statements ...string) {
	h.t.Helper()
	db := openStore(h.t, h.Store(), "rwc")
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		_, err := db.Exec(statement)
		require.NoError(h.t, err, statement[:min(len(statement), 200)])
	}
	remember(db)
}

// Query gives every row of a query as its cells joined by |, NULL where a cell is NULL.
func (h *Home) Query(query string, args ...any) []string {
	h.t.Helper()
	db := openStore(h.t, h.Store(), "rw")
	defer func() { _ = db.Close() }()
	lines, err := queryLines(db, query, args...)
	require.NoError(h.t, err, query)
	return lines
}

// querier is a database, or a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

func queryLines(db querier, query string, args ...any) ([]string, error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for rows.Next() {
		cells := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		texts := make([]string, len(cells))
		for i, cell := range cells {
			switch v := cell.(type) {
			case nil:
				texts[i] = "NULL"
			case []byte:
				texts[i] = string(v)
			default:
				texts[i] = fmt.Sprint(v)
			}
		}
		lines = append(lines, strings.Join(texts, "|"))
	}
	return lines, rows.Err()
}

// Write makes a file in the home.
func (h *Home) Write(name, content string) {
	h.t.Helper()
	path := filepath.Join(h.Path, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(h.t, os.WriteFile(path, []byte(content), 0o600))
	Named(name)
	if !strings.HasPrefix(content, "[") { // a manifest holds ids
		Remember(content)
	}
}

// Artifacts makes the four files of each session.
func (h *Home) Artifacts(ids ...string) {
	h.t.Helper()
	for _, id := range ids {
		for _, name := range []string{id + ".json", id + ".jsonl", "session_" + id + ".json", "request_dump_" + id + "_1.json"} {
			h.Write(filepath.Join("sessions", name), "of "+id)
		}
	}
}

// Sessions lists the names in the sessions folder.
func (h *Home) Sessions() []string {
	h.t.Helper()
	return h.list("sessions")
}

func (h *Home) list(folder string) []string {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.Path, folder))
	require.NoError(h.t, err)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return slices.Sorted(slices.Values(names))
}

// Manifests lists the finished cleanup manifests.
func (h *Home) Manifests() []string {
	return slices.DeleteFunc(h.Sessions(), func(name string) bool {
		return !strings.HasPrefix(name, ".cleanup_manifest_") || !strings.HasSuffix(name, ".json")
	})
}

// RequireSound checks what holds after every delete (contract 9): the store, its references and its indexes are sound,
// and no message is without its session.
func (h *Home) RequireSound() {
	h.t.Helper()
	db := openStore(h.t, h.Store(), "rw")
	defer func() { _ = db.Close() }()
	for query, want := range map[string][]string{
		"PRAGMA integrity_check":   {"ok"},
		"PRAGMA foreign_key_check": {},
		"SELECT m.id FROM messages m LEFT JOIN sessions s ON s.id = m.session_id WHERE s.id IS NULL": {},
	} {
		got, err := queryLines(db, query)
		require.NoError(h.t, err, query)
		require.Equal(h.t, want, got, query)
	}
	indexes, err := queryLines(db, "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'")
	require.NoError(h.t, err)
	for _, index := range indexes {
		_, err := db.Exec(fmt.Sprintf("INSERT INTO %[1]s(%[1]s, rank) VALUES ('integrity-check', 1)", index))
		require.NoError(h.t, err, "integrity of %s", index)
	}
}

// ForeignIndex adds a full-text index on messages whose tokenizer no build here has, with its triggers, as an Agent's
// extension would: only its schema can be written, since SQLite will not make it.
func (h *Home) ForeignIndex(name string) {
	h.t.Helper()
	db := openStore(h.t, h.Store(), "rw")
	defer func() { _ = db.Close() }()
	schema := [][3]string{
		{"table", name, "CREATE VIRTUAL TABLE " + name + " USING fts5(content, tokenize = 'cjk_of_an_agent')"},
		{"trigger", name + "_insert", "CREATE TRIGGER " + name + "_insert AFTER INSERT ON messages BEGIN INSERT INTO " +
			name + "(rowid, content) VALUES (new.id, new.content); END"},
		{"trigger", name + "_delete", "CREATE TRIGGER " + name + "_delete AFTER DELETE ON messages BEGIN DELETE FROM " +
			name + " WHERE rowid = old.id; END"},
		{"trigger", name + "_update", "CREATE TRIGGER " + name + "_update AFTER UPDATE ON messages BEGIN DELETE FROM " +
			name + " WHERE rowid = old.id; END"},
	}
	_, err := db.Exec("PRAGMA writable_schema = ON")
	require.NoError(h.t, err)
	for _, s := range schema {
		table := name
		if s[0] == "trigger" {
			table = "messages"
		}
		_, err := db.Exec("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
			s[0], s[1], table, s[2])
		require.NoError(h.t, err)
	}
	_, err = db.Exec("PRAGMA writable_schema = RESET")
	require.NoError(h.t, err)
}

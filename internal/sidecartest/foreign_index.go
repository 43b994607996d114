package sidecartest

import (
	"database/sql"

	"github.com/stretchr/testify/require"
)

// ForeignIndex adds a full-text index on messages whose tokenizer no build here has, with its triggers, as an Agent's
// extension would: only its schema can be written, since SQLite will not make it.
func (h *Home) ForeignIndex(name string) {
	h.t.Helper()
	schema := [][3]string{
		{"table", name, "CREATE VIRTUAL TABLE " + name + " USING fts5(content, tokenize = 'cjk_of_an_agent')"},
		{"trigger", name + "_insert", "CREATE TRIGGER " + name + "_insert AFTER INSERT ON messages BEGIN INSERT INTO " +
			name + "(rowid, content) VALUES (new.id, new.content); END"},
		{"trigger", name + "_delete", "CREATE TRIGGER " + name + "_delete AFTER DELETE ON messages BEGIN DELETE FROM " +
			name + " WHERE rowid = old.id; END"},
		{"trigger", name + "_update", "CREATE TRIGGER " + name + "_update AFTER UPDATE ON messages BEGIN DELETE FROM " +
			name + " WHERE rowid = old.id; END"},
	}
	h.with("rw", func(db *sql.DB) {
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
	})
}

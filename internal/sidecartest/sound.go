package sidecartest

import (
	"database/sql"
	"fmt"

	"github.com/stretchr/testify/require"
)

// RequireSound checks what holds after every delete (contract 9): the store, its references and its indexes are sound,
// and no message is without its session.
func (h *Home) RequireSound() {
	h.t.Helper()
	h.with("rw", h.requireSound)
}

func (h *Home) requireSound(db *sql.DB) {
	h.t.Helper()
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

package sidecartest

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// Row is one row: column -> value as SQLite holds it (nil, int64, float64, string, []byte).
type Row = map[string]any

// Tables is what a store holds, by table.
type Tables map[string][]Row

// Tables reads every row of every table, those of the full-text indexes included, from one snapshot.
func (h *Home) Tables() Tables {
	h.t.Helper()
	tables := Tables{}
	h.inTransaction(func(tx *sql.Tx) {
		names, err := queryLines(tx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
		require.NoError(h.t, err)
		for _, name := range names {
			tables[name], err = readRows(tx, "SELECT * FROM "+name)
			require.NoError(h.t, err, name)
		}
	})
	return tables
}

func (h *Home) inTransaction(work func(*sql.Tx)) {
	h.t.Helper()
	h.with("rw", func(db *sql.DB) {
		tx, err := db.Begin()
		require.NoError(h.t, err)
		defer func() { _ = tx.Rollback() }()
		work(tx)
		require.NoError(h.t, tx.Commit())
	})
}

func readRows(db querier, query string) ([]Row, error) {
	found := []Row{}
	err := eachRow(db, func(columns []string, cells []any) {
		row := Row{}
		for i, column := range columns {
			row[column] = cells[i]
		}
		found = append(found, row)
	}, query)
	return found, err
}

// Insert adds rows in one transaction, whatever they refer to. Sessions come before their messages, whose full-text triggers
// read them.
func (h *Home) Insert(tables Tables) {
	h.t.Helper()
	names := []string{"sessions"}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if name != "sessions" {
			names = append(names, name)
		}
	}
	h.inTransaction(func(tx *sql.Tx) {
		for _, name := range names {
			for _, row := range tables[name] {
				require.NoError(h.t, insertRow(tx, name, row), name)
			}
		}
		remember(tx)
	})
}

func insertRow(tx *sql.Tx, table string, row Row) error {
	columns := slices.Sorted(maps.Keys(row))
	values := make([]any, len(columns))
	for i, column := range columns {
		values[i] = row[column]
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
	_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), marks), values...)
	return err
}

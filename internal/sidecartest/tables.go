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
	db := openStore(h.t, h.Store(), "rw")
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	require.NoError(h.t, err)
	defer func() { _ = tx.Rollback() }()
	names, err := queryLines(tx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
	require.NoError(h.t, err)
	tables := Tables{}
	for _, name := range names {
		tables[name], err = readRows(tx, "SELECT * FROM "+name)
		require.NoError(h.t, err, name)
	}
	return tables
}

func readRows(db querier, query string) ([]Row, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := []Row{}
	for rows.Next() {
		cells := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := Row{}
		for i, column := range columns {
			row[column] = cells[i]
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// Insert adds rows in one transaction, whatever they refer to. Sessions come before their messages, whose full-text triggers
// read them.
func (h *Home) Insert(tables Tables) {
	h.t.Helper()
	db := openStore(h.t, h.Store(), "rw")
	defer func() { _ = db.Close() }()
	tx, err := db.Begin()
	require.NoError(h.t, err)
	defer func() { _ = tx.Rollback() }()
	names := []string{"sessions"}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if name != "sessions" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		for _, row := range tables[name] {
			require.NoError(h.t, insertRow(tx, name, row), name)
		}
	}
	require.NoError(h.t, tx.Commit())
	remember(db)
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

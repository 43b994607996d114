package sidecartest

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver of the stores that the tests make
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/storeuri"
)

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
	db, err := openStore(h.Store(), "rwc")
	require.NoError(h.t, err)
	h.t.Cleanup(func() {
		remember(db)
		_ = db.Close()
	})
	return db
}

// with opens the store for a while.
func (h *Home) with(mode string, work func(*sql.DB)) {
	h.t.Helper()
	db, err := openStore(h.Store(), mode)
	require.NoError(h.t, err)
	defer func() { _ = db.Close() }()
	work(db)
}

// Exec runs statements in the store.
func (h *Home) Exec(statements ...string) {
	h.t.Helper()
	h.with("rwc", func(db *sql.DB) {
		for _, statement := range statements {
			_, err := db.Exec(statement)
			require.NoError(h.t, err, statement[:min(len(statement), 200)])
		}
		remember(db)
	})
}

// Query gives every row of a query as its cells joined by |, NULL where a cell is NULL.
func (h *Home) Query(query string, args ...any) (lines []string) {
	h.t.Helper()
	h.with("rw", func(db *sql.DB) {
		var err error
		lines, err = queryLines(db, query, args...)
		require.NoError(h.t, err, query)
	})
	return lines
}

// openStore opens a store over one connection, which waits longer for a lock than any test holds one.
func openStore(path, mode string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", storeuri.Of(path, url.Values{"_busy_timeout": {"10000"}, "mode": {mode}}))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// querier is a database, or a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// eachRow visits the rows of a query, with each cell as SQLite holds it.
func eachRow(db querier, visit func(columns []string, cells []any), query string, args ...any) error {
	rows, err := db.Query(query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		cells := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		visit(columns, cells)
	}
	return rows.Err()
}

func queryLines(db querier, query string, args ...any) ([]string, error) {
	lines := []string{}
	err := eachRow(db, func(_ []string, cells []any) {
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
	}, query, args...)
	return lines, err
}

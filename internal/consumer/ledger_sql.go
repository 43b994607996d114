package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver of the ledger
)

// ledgerMark is in the header of every ledger, so that no other program's database is ever taken for one.
const ledgerMark = 0x52435054

const ledgerSchema = `
-- Where each store stands.
CREATE TABLE IF NOT EXISTS stores (
  store TEXT PRIMARY KEY,       -- the resolved path of its database
  cursor INTEGER NOT NULL,      -- all receipts up to here are staged
  doubt TEXT NOT NULL           -- why it has to be reconciled; empty where all is well
) STRICT;
-- What is staged, once for each operation.
CREATE TABLE IF NOT EXISTS work (
  position INTEGER PRIMARY KEY AUTOINCREMENT, -- the order
  operation_id TEXT NOT NULL UNIQUE,
  store TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  deletion_json TEXT            -- as it came; NULL once the work is done, since then the operation_id is enough
) STRICT;
PRAGMA application_id = %d`

// ledger is the consumer's own file: its cursors, and the work that is not done yet.
type ledger struct{ db *sql.DB }

// openLedger opens the ledger. It holds routing identifiers, so nobody else may read it.
func openLedger(ctx context.Context, path string, create bool) (*ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if create {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_ = file.Close() // before SQLite opens it: to close a file drops the locks that this process has on it
	}
	query := url.Values{
		"mode":           {"rw"},
		"_busy_timeout":  {"10000"},
		"_txlock":        {"immediate"}, // a transaction has the write lock before it reads the cursor
		"_synchronous":   {"full"},      // what is committed outlives a power failure
		"_secure_delete": {"on"},        // what is done leaves no identifiers behind
	}
	uri := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/"), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite3", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	l := &ledger{db}
	if err := l.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

func (l *ledger) close() error { return l.db.Close() }

// prepare makes the tables of a new ledger, and refuses a database that is something else before it changes anything in it.
func (l *ledger) prepare(ctx context.Context) error {
	var tables, mark int
	err := l.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM sqlite_schema), application_id FROM pragma_application_id`).
		Scan(&tables, &mark)
	if err != nil {
		return err
	}
	if tables > 0 && mark != ledgerMark {
		return errors.New("it is another program's database")
	}
	var mode string
	if err := l.db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("it cannot be in WAL mode, only in %q", mode)
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(ledgerSchema, ledgerMark)); err != nil {
		return err
	}
	return tx.Commit()
}

// querier is the ledger, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// position tells where a store stands.
func (l *ledger) position(ctx context.Context, store string) (position, error) {
	return positionIn(ctx, l.db, store)
}

func positionIn(ctx context.Context, q querier, store string) (at position, err error) {
	at.known = true
	err = q.QueryRowContext(ctx, `SELECT cursor, doubt FROM stores WHERE store = ?`, store).Scan(&at.cursor, &at.doubt)
	if errors.Is(err, sql.ErrNoRows) {
		return position{}, nil
	}
	return at, err
}

// errOvertaken says that another consumer has moved the store's position meanwhile: what was read from the old one is worth
// nothing.
var errOvertaken = errors.New("another consumer was quicker")

// stage makes a verdict durable, all of it or nothing: the receipts, the cursor behind them, and a doubt. An operation that is
// known already is not staged again.
func (l *ledger) stage(ctx context.Context, store string, at position, v verdict) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	now, err := positionIn(ctx, tx, store)
	if err != nil {
		return err
	}
	if now != at {
		return errOvertaken
	}
	for _, r := range v.receipts {
		_, err := tx.ExecContext(ctx, `INSERT INTO work (operation_id, store, sequence, deletion_json) VALUES (?, ?, ?, ?)
			ON CONFLICT (operation_id) DO NOTHING`, r.operationID, store, r.sequence, string(r.deletion))
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO stores (store, cursor, doubt) VALUES (?, ?, ?)
		ON CONFLICT (store) DO UPDATE SET cursor = excluded.cursor, doubt = excluded.doubt`, store, v.next.cursor, v.next.doubt)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// reconciled lets a store go on behind a sequence, as a person decided. Behind 0 it is as one that was never looked at; what is
// staged of it stays known.
func (l *ledger) reconciled(ctx context.Context, store string, after int64) error {
	if after == 0 {
		_, err := l.db.ExecContext(ctx, `DELETE FROM stores WHERE store = ?`, store)
		return err
	}
	_, err := l.db.ExecContext(ctx, `INSERT INTO stores (store, cursor, doubt) VALUES (?, ?, '')
		ON CONFLICT (store) DO UPDATE SET cursor = excluded.cursor, doubt = ''`, store, after)
	return err
}

// work is what there is to do because of one receipt.
type work struct {
	OperationID string          `json:"operation_id"`
	Store       string          `json:"store"`
	Sequence    int64           `json:"sequence"`
	Deletion    json.RawMessage `json:"deletion"`
}

// printWork prints the pending work in its order. Whoever does it says so afterwards, with -done. A crash between the two makes
// it come again: it is done at least once, so to do it twice has to be as good as once. The operation_id names it both times.
func (l *ledger) printWork(ctx context.Context, out io.Writer) error {
	rows, err := l.db.QueryContext(ctx, `SELECT operation_id, store, sequence, deletion_json FROM work
		WHERE deletion_json IS NOT NULL ORDER BY position`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	encoder := json.NewEncoder(out)
	for rows.Next() {
		var w work
		var deletion string
		if err := rows.Scan(&w.OperationID, &w.Store, &w.Sequence, &deletion); err != nil {
			return err
		}
		w.Deletion = json.RawMessage(deletion)
		if err := encoder.Encode(w); err != nil {
			return err
		}
	}
	return rows.Err()
}

// markDone ends the work of an operation. It may be told again.
func (l *ledger) markDone(ctx context.Context, operationID string) error {
	marked, err := l.db.ExecContext(ctx, `UPDATE work SET deletion_json = NULL WHERE operation_id = ?`, operationID)
	if err != nil {
		return err
	}
	if n, err := marked.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("no operation %q was staged", operationID)
}

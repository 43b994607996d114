package statedb

import (
	"context"
	"time"
)

// Look is a reading of a store, from one snapshot and without the write lock, that is proved under the lock: where no other
// connection has committed since, all that it saw still holds, and need not be read again while others wait for the lock
// (contract 4, step 3). Its own transactions do not count. End it with Close.
type Look struct {
	conn    *conn
	file    storeFile
	version int64 // what SQLite counts for this connection when others have committed
}

// StartLook opens a store and begins to look at it.
func StartLook(ctx context.Context, path string) (*Look, error) {
	file, err := lookAtFile(path)
	if err != nil {
		return nil, err
	}
	l := &Look{file: file}
	if err := whileBusy(ctx, readPatience, func() (err error) { l.conn, err = openChecked(ctx, path); return err }); err != nil {
		return nil, classify("open the store", err)
	}
	if err := l.Again(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Again looks at the store as it is now.
func (l *Look) Again(ctx context.Context) error {
	return classify("look at the store", whileBusy(ctx, readPatience, func() error {
		if err := l.rest(); err != nil {
			return err
		}
		if _, err := l.conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		// The first thing that is read makes the snapshot, so this is its version and no later one.
		return l.conn.dataVersion(ctx, &l.version)
	}))
}

// Begin ends the snapshot, takes the write lock as the Begin of a store does, and tells whether all that was seen still
// holds. It may be called again once the transaction has ended: as long as nobody else has committed, the look holds.
func (l *Look) Begin(ctx context.Context, patience time.Duration) (tx *Tx, holds bool, err error) {
	if err := l.rest(); err != nil {
		return nil, false, classify("end a look at the store", err)
	}
	if _, err := takeLock(ctx, l.conn, l.file.path, time.Now().Add(patience)); err != nil {
		return nil, false, err
	}
	tx = newTx(l.conn, l.file)
	tx.shared = true
	var version int64
	if err := l.conn.dataVersion(ctx, &version); err != nil {
		_ = tx.Rollback()
		return nil, false, classify("prove what was seen", err)
	}
	if l.file.replaced() {
		_ = tx.Rollback()
		return nil, false, &Error{Kind: ErrIO, Detail: "state.db was replaced meanwhile"}
	}
	return tx, version == l.version, nil
}

// Close gives the connection back.
func (l *Look) Close() { l.conn.close() }

// rest ends the snapshot, if there is one.
func (l *Look) rest() error {
	if !l.conn.inTransaction() {
		return nil
	}
	_, err := l.conn.ExecContext(context.Background(), "ROLLBACK")
	return err
}

// dataVersion reads a number that changes for this connection when another one, of whatever process, has committed. Numbers
// of two connections cannot be compared.
func (c *conn) dataVersion(ctx context.Context, version *int64) error {
	return c.QueryRowContext(ctx, "PRAGMA data_version").Scan(version)
}

package statedb

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Look is a reading of a store, from one snapshot and without the write lock, that is proved under the lock: where no other
// connection has committed since, all that it saw still holds, and need not be read again while others wait for the lock
// (contract 4, step 3). Its own transactions do not count. End it with Close.
type Look struct {
	conn     *conn
	file     storeFile
	patience time.Duration
	version  int64       // what SQLite counts for this connection when others have committed
	opened   []fileState // the store's files when it was opened
	left     []fileState // and when the look was laid to rest
}

// StartLook opens a store and begins to look at it. Where another process is in the way, it is waited for as long as patience allows,
// then ErrBusy. A store that is not there is ErrMissing.
func StartLook(ctx context.Context, path string, patience time.Duration) (*Look, error) {
	deadline := time.Now().Add(patience)
	file, err := lookAtFile(path)
	if err != nil {
		return nil, err
	}
	l := &Look{file: file, patience: patience}
	err = whileBusy(ctx, patience, func() (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.conn, err = openChecked(ctx, path)
		return err
	})
	if err != nil {
		return nil, classify("open the store", err)
	}
	if err := l.again(ctx, time.Until(deadline)); err != nil {
		l.Close()
		return nil, err
	}
	l.opened = l.files() // by now SQLite has opened all of them
	return l, nil
}

// Again looks at the store as it is now.
func (l *Look) Again(ctx context.Context) error { return l.again(ctx, l.patience) }

func (l *Look) again(ctx context.Context, patience time.Duration) error {
	return classify("look at the store", whileBusy(ctx, patience, func() error {
		if err := l.rest(); err != nil {
			return err
		}
		if _, err := l.conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		// The first thing that is read makes the snapshot, so this is its version and no later one.
		var version int64
		if err := l.conn.dataVersion(ctx, &version); err != nil {
			return err
		}
		if version != l.version {
			l.version, l.conn.survey = version, nil
		}
		return nil
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
	if holds = version == l.version; !holds {
		l.conn.survey = nil
	}
	return tx, holds, nil
}

// BeginAnew is Begin, in the store that has taken the place of this one where that has happened: nothing that was seen holds then.
func (l *Look) BeginAnew(ctx context.Context, patience time.Duration) (tx *Tx, holds bool, err error) {
	deadline := time.Now().Add(patience)
	for {
		tx, holds, err = l.Begin(ctx, time.Until(deadline))
		if err == nil || !l.file.replaced() || !time.Now().Before(deadline) {
			return tx, holds, err
		}
		fresh, err := StartLook(ctx, l.file.path, time.Until(deadline))
		if err != nil {
			return nil, false, err
		}
		l.Close()
		*l = *fresh
		l.version-- // of another connection
	}
}

// Close gives the connection back.
func (l *Look) Close() { l.conn.close() }

// mostToMove bounds the log that Settle moves: a longer one is another process's as well.
const mostToMove = 8 << 20

// Settle moves the log into the store and empties it, as the last connection to a store does when it closes: who copies or replaces the
// store's file alone finds, or takes away, all that was committed. It waits for nobody, and tells whether the log is empty.
func (l *Look) Settle() bool {
	if l.rest() != nil || l.file.replaced() {
		return false
	}
	log, err := os.Lstat(l.file.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return true // a store without one
	}
	if err != nil || log.Size() > mostToMove {
		return false
	}
	if log.Size() == 0 {
		return true
	}
	ctx := context.Background()
	if l.conn.moveWAL(ctx) != nil { // while others may write
		return false
	}
	emptied, err := l.conn.truncateWAL(ctx)
	return emptied && err == nil
}

// Rest ends the snapshot, so that the look can be kept for later.
func (l *Look) Rest() error {
	if err := l.rest(); err != nil {
		return classify("end a look at the store", err)
	}
	l.left = l.files()
	return nil
}

// Untouched tells whether the store's files are still those that were opened, and what is in the store and in its log is as it was at the
// last Rest. Whoever puts others in their place, or other content into the store, while nobody works with it does not tell SQLite: what
// this connection remembers must not undo that, and what it writes must not go into a log that has been taken away.
func (l *Look) Untouched() bool {
	if len(l.left) != len(l.opened) {
		return false
	}
	for i, now := range l.files() {
		if !now.isThatOf(l.opened[i]) {
			return false
		}
		if i < 2 && !now.isAsIn(l.left[i]) { // the index of the log is memory that readers write into
			return false
		}
	}
	return true
}

// files looks at the store's files.
func (l *Look) files() []fileState { return storeFiles(l.file.path) }

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

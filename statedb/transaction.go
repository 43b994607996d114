package statedb

import (
	"context"
	"errors"
	"time"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/jitter"
)

// Patience is how long the write lock is tried before ErrBusy (contract 4, step 2).
const Patience = 20 * time.Second

// Tx is a write transaction that holds the store's write lock. End it with Commit or Rollback.
type Tx struct {
	conn *conn
	file storeFile
	path Path // once Plan has chosen it
	done bool

	shared bool // the connection is a Look's, and stays open

	began time.Time
	held  time.Duration // once it has ended
}

// newTx is the transaction of a connection that has just taken the write lock.
func newTx(c *conn, file storeFile) *Tx {
	tx := &Tx{conn: c, file: file, began: time.Now()}
	faultpoint.Hit(faultpoint.WriteLockHeld)
	return tx
}

// Begin opens the store and takes its write lock, trying every few milliseconds for as long as patience allows, then
// ErrBusy. A cancel ends the wait at once and never leaves a transaction open (contract 4, step 2).
func Begin(ctx context.Context, path string, patience time.Duration) (*Tx, error) {
	deadline := time.Now().Add(patience)
	file, err := lookAtFile(path)
	if err != nil {
		return nil, err
	}
	c, err := takeLock(ctx, nil, path, deadline)
	if err != nil {
		c.close()
		return nil, err
	}
	if file.replaced() {
		c.close() // which ends the transaction
		return Begin(ctx, path, time.Until(deadline))
	}
	return newTx(c, file), nil
}

// takeLock takes the write lock, over a connection of its own where it is given none. The connection is there after a failure
// too.
func takeLock(ctx context.Context, c *conn, path string, deadline time.Time) (*conn, error) {
	err := whileBusy(ctx, time.Until(deadline), func() (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err = tryBegin(ctx, c, path)
		return err
	})
	if isBusy(err) {
		return c, &Error{Kind: ErrBusy}
	}
	return c, classify("take the write lock", err)
}

// whileBusy tries something anew, from the start, for as long as another process is in the way and patience allows.
func whileBusy(ctx context.Context, patience time.Duration, try func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if !isBusy(err) || !time.Now().Before(deadline) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// tryBegin asks once, over the connection of an earlier try where there is one. Every statement runs without the
// caller's cancel: each returns at once, and one that is cancelled half-way could succeed unseen.
func tryBegin(ctx context.Context, c *conn, path string) (*conn, error) {
	calm := context.WithoutCancel(ctx)
	if c == nil {
		opened, err := openChecked(calm, path)
		if err != nil {
			return nil, err
		}
		c = opened
	}
	_, err := c.ExecContext(calm, "BEGIN IMMEDIATE")
	return c, err
}

// openChecked opens a store for a write transaction.
func openChecked(ctx context.Context, path string) (*conn, error) {
	c, err := open(ctx, path, readWrite)
	if err != nil {
		return nil, err
	}
	if err := c.checkPragmas(ctx); err != nil {
		c.close() // a later try must check again
		return nil, err
	}
	return c, nil
}

// checkPragmas reads back what a delete relies on: a pragma that SQLite does not take is no error in SQLite.
func (c *conn) checkPragmas(ctx context.Context) error {
	for pragma, want := range map[string]int{"foreign_keys": 1, "synchronous": 3, "secure_delete": 1} {
		var got int
		if err := c.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return &Error{Kind: ErrIO, Detail: "SQLite does not take PRAGMA " + pragma}
		}
	}
	return nil
}

// Held is for how long the transaction held the write lock, or zero where it still does.
func (t *Tx) Held() time.Duration { return t.held }

func (t *Tx) end() {
	t.held = time.Since(t.began)
	t.done = true
	if !t.shared {
		t.conn.close()
	}
}

// ErrOutcomeUnknown says that a commit failed in a way that leaves open whether the rows are gone: the manifest must
// stay, and does no harm, since a live row protects its artifacts (contract 4, step 5).
var ErrOutcomeUnknown = errors.New("the commit failed and its outcome is not known")

// Commit makes the changes durable. Where it fails, the transaction has certainly been rolled back unless the error is
// ErrOutcomeUnknown. A store without a WAL may have readers in the way; they are waited for as the lock was.
func (t *Tx) Commit() error { return t.commitWithin(Patience) }

func (t *Tx) commitWithin(patience time.Duration) error {
	ctx := context.Background()
	deadline := time.Now().Add(patience)
	if t.file.replaced() {
		return errors.Join(&Error{Kind: ErrIO, Detail: "state.db was replaced meanwhile", Path: t.path}, t.Rollback())
	}
	for {
		_, err := t.conn.ExecContext(ctx, "COMMIT")
		if err == nil {
			t.end()
			return nil
		}
		open := t.open()
		if open && isBusy(err) && time.Now().Before(deadline) {
			_ = pause(ctx)
			continue
		}
		failure := onPath(t.path, classify("commit", err))
		if certain := open || isFull(err); !certain || t.Rollback() != nil {
			t.end()
			return errors.Join(ErrOutcomeUnknown, failure)
		}
		return failure
	}
}

// open tells whether SQLite still has the transaction: it ends some by itself.
func (t *Tx) open() bool { return t.conn.inTransaction() }

// Rollback undoes everything and releases the write lock. After Commit or Rollback it does nothing.
func (t *Tx) Rollback() error {
	if t.done {
		return nil
	}
	t.conn.known = nil // it may be of a schema that we have just taken back
	_, err := t.conn.ExecContext(context.Background(), "ROLLBACK")
	open := t.open()
	t.end()
	if !open {
		return nil // SQLite had rolled back by itself, as it does when a statement is interrupted
	}
	return classify("roll back", err)
}

// pause waits between two tries for SQLite's locks.
func pause(ctx context.Context) error {
	return jitter.Pause(ctx, 2*time.Millisecond, 6*time.Millisecond)
}

// write changes a store in one transaction that holds its write lock, which is tried for as long as patience allows. What was read before
// the lock has to be proved again by change. Where that fails, or the caller has gone meanwhile, nothing is changed.
func write(ctx context.Context, path string, patience time.Duration, doing string, change func(*conn) error) error {
	tx, err := Begin(ctx, path, patience)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err = change(tx.conn); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return classify(doing, err)
	}
	return tx.Commit()
}

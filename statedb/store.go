// Package statedb reads and changes an Agent's store, home/state.db, beside the Agent's own processes. It knows nothing
// of files: internal/deletion puts a delete together (contract 4).
package statedb

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
	"session-sidecar/internal/jitter"
)

// FileName is the store inside a home.
const FileName = home.StoreName

// Patience is how long the write lock is tried before ErrBusy (contract 4, step 2).
const Patience = 20 * time.Second

// Locate finds the store of a resolved home without opening it: closing any descriptor of a file drops all the
// process's POSIX locks on it, and another process's rows would be lost (contract 4). A store that is not there is
// ErrMissing; a link that leads out of the home, or something that is no plain file, is ErrIO (contract 3.1).
func Locate(homePath string) (path string, err error) {
	path, err = filepath.EvalSymlinks(filepath.Join(homePath, FileName))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", &Error{Kind: ErrMissing}
	case err != nil:
		return "", &Error{Kind: ErrIO, Detail: "look for state.db", Cause: err}
	case !home.Contains(homePath, path):
		return "", &Error{Kind: ErrIO, Detail: "state.db is a link that leads out of the home"}
	}
	if _, err := lstatPlain(path); err != nil {
		return "", err
	}
	return path, nil
}

type access string

const (
	readOnly  access = "ro"
	readWrite access = "rw"

	// Those that make no file and write into none, not even beside the store; untouched.go tells which one may be used when.
	readBeside access = "beside others" // by the log's index that is there, which is not written into
	readAlone  access = "alone"         // as if nobody ever wrote into it
	readProbe  access = "probe"         // without a lock, and never with a log
)

// parameters are what a URI says of an access.
func (a access) parameters() url.Values {
	switch a {
	case readBeside:
		return url.Values{"mode": {"ro"}, "readonly_shm": {"1"}}
	case readAlone:
		return url.Values{"mode": {"ro"}, "immutable": {"1"}}
	case readProbe:
		return url.Values{"mode": {"ro"}, "nolock": {"1"}}
	}
	return url.Values{"mode": {string(a)}}
}

// conn is one connection to one store.
type conn struct {
	db *sql.DB
	*sql.Conn

	survey *survey      // what it has passed over already; nil where nothing is known
	known  *knownSchema // the shape that it read last
}

// open is the only way to a connection to a store. The URI is absolute and escaped, and its mode never creates, so
// no other file is ever opened or made. There is no busy handler: a wait inside SQLite cannot be cancelled.
func open(ctx context.Context, path string, mode access) (*conn, error) {
	// SQLite follows a link. One that is not there is its to tell.
	if _, err := lstatPlain(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c, err := openURI(ctx, storeURI(path, mode))
	if err != nil {
		return nil, err
	}
	if err := c.Raw(keepWAL); err != nil {
		c.close()
		return nil, err
	}
	// On macOS a plain sync leaves the data in the disk's own memory; elsewhere this changes nothing.
	// Where nobody else has the store open, a WAL that stays would grow with every delete: the last one to leave empties it.
	for _, pragma := range []string{"PRAGMA fullfsync = ON", "PRAGMA journal_size_limit = 0"} {
		if _, err := c.ExecContext(ctx, pragma); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func openURI(ctx context.Context, uri string) (*conn, error) {
	db, err := sql.Open("sqlite3", uri)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &conn{db: db, Conn: c}, nil
}

func storeURI(path string, mode access) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… on Windows
	}
	query := url.Values{
		"_busy_timeout":  {"0"},
		"_foreign_keys":  {"on"},
		"_synchronous":   {"extra"}, // durable before the first artifact goes: FULL, and where there is no WAL its end too
		"_secure_delete": {"on"},
		// What one delete asks, the next one asks again.
		"_stmt_cache_size": {"128"},
	}
	maps.Copy(query, mode.parameters())
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}).String()
}

// close gives the connection back, if there is one. sql.DB.Close alone would leave a checked-out connection open.
func (c *conn) close() {
	if c == nil {
		return
	}
	_ = c.Conn.Close()
	_ = c.db.Close()
}

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

// Held is for how long the transaction held the write lock, or zero where it still does.
func (t *Tx) Held() time.Duration { return t.held }

func (t *Tx) end() {
	t.held = time.Since(t.began)
	t.done = true
	if !t.shared {
		t.conn.close()
	}
}

// newTx is the transaction of a connection that has just taken the write lock.
func newTx(c *conn, file storeFile) *Tx {
	tx := &Tx{conn: c, file: file, began: time.Now()}
	faultpoint.Hit(faultpoint.WriteLockHeld)
	return tx
}

// storeFile is a store's file as it was when it was opened. To look at it again is no opening, which would take locks away.
type storeFile struct {
	path string
	info fs.FileInfo
}

func lookAtFile(path string) (storeFile, error) {
	info, err := lstatPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return storeFile{}, &Error{Kind: ErrMissing}
	}
	return storeFile{path, info}, err
}

// lstatPlain looks at the file that a resolved path was found to lead to. A link that has taken its place since may lead anywhere.
func lstatPlain(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, &Error{Kind: ErrIO, Detail: "look at state.db", Cause: err}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Kind: ErrIO, Detail: "state.db is not a regular file"}
	}
	return info, nil
}

// replaced tells whether the path leads to another file by now: changes to this one would be seen by nobody.
func (f storeFile) replaced() bool {
	now, err := lstatPlain(f.path)
	return err != nil || !os.SameFile(f.info, now)
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

func (c *conn) inTransaction() (open bool) {
	_ = c.Raw(func(driverConn any) error { open = inTransaction(driverConn); return nil })
	return open
}

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

// openPrivate opens a store of our own in memory, to ask SQLite about itself.
func openPrivate(ctx context.Context) (*conn, error) {
	return openURI(ctx, "file::memory:?_busy_timeout=0")
}

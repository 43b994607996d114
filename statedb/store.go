package statedb

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"net/url"

	"session-sidecar/internal/storeuri"
)

// This file opens connections. What is done over one is in the files of those who ask; a write transaction is in transaction.go.

// access is what a connection may do to a store.
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
	if err := lstatBeside(path); err != nil {
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
	parameters := url.Values{
		"_busy_timeout":  {"0"},
		"_foreign_keys":  {"on"},
		"_synchronous":   {"extra"}, // durable before the first artifact goes: FULL, and where there is no WAL its end too
		"_secure_delete": {"on"},
		// What one delete asks, the next one asks again.
		"_stmt_cache_size": {"128"},
	}
	maps.Copy(parameters, mode.parameters())
	return storeuri.Of(path, parameters)
}

// close gives the connection back, if there is one. sql.DB.Close alone would leave a checked-out connection open.
func (c *conn) close() {
	if c == nil {
		return
	}
	_ = c.Conn.Close()
	_ = c.db.Close()
}

func (c *conn) inTransaction() (open bool) {
	_ = c.Raw(func(driverConn any) error { open = inTransaction(driverConn); return nil })
	return open
}

// openPrivate opens a store of our own in memory, to ask SQLite about itself.
func openPrivate(ctx context.Context) (*conn, error) {
	return openURI(ctx, "file::memory:?_busy_timeout=0")
}

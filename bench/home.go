package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
)

// home is a profile's folder with a copy of the store, and an Agent that has it open.
type home struct {
	path  string
	agent *sql.DB
}

func newHome(ctx context.Context, path, store string) (*home, error) {
	if err := os.MkdirAll(filepath.Join(path, "sessions"), 0o700); err != nil {
		return nil, err
	}
	h := &home{path: path}
	if err := copyFile(store, h.store()); err != nil {
		return nil, err
	}
	agent, err := sql.Open("sqlite3", uri(h.store(), "mode=rw&_busy_timeout=5000"))
	if err != nil {
		return nil, err
	}
	agent.SetMaxOpenConns(1)
	h.agent = agent
	if err := h.settle(ctx); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *home) store() string { return filepath.Join(h.path, "state.db") }

func (h *home) close() { _ = h.agent.Close() }

// writeFiles makes the transcripts of sessions.
func (h *home) writeFiles(ids ...string) error {
	for _, id := range ids {
		if err := os.WriteFile(filepath.Join(h.path, "sessions", id+".jsonl"), []byte(id), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// settle lets the Agent write a row, so that nobody may go by what was read before it, and empty the write-ahead log, so that
// what is measured next does not pay for what was measured before.
func (h *home) settle(ctx context.Context) error {
	_, err := h.agent.ExecContext(ctx, `INSERT INTO state_meta (key, value) VALUES ('last_auto_archive', '0')
		ON CONFLICT (key) DO UPDATE SET value = value + 1`)
	if err != nil {
		return err
	}
	var busy, logged, moved int
	err = h.agent.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved)
	if err == nil && busy != 0 {
		err = fmt.Errorf("somebody else uses %s", h.store())
	}
	return err
}

// connect opens the store as a delete does.
func (h *home) connect(ctx context.Context, mode string) (*sql.Conn, func(), error) {
	db, err := sql.Open("sqlite3", uri(h.store(), "_busy_timeout=0&_foreign_keys=on&_synchronous=full&_secure_delete=on&mode="+mode))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	closeBoth := func() { _, _ = c.Close(), db.Close() }
	if err := c.Raw(keepWAL); err != nil {
		closeBoth()
		return nil, nil, err
	}
	for _, pragma := range []string{"PRAGMA fullfsync = ON", "PRAGMA journal_size_limit = 0"} {
		if _, err := c.ExecContext(ctx, pragma); err != nil {
			closeBoth()
			return nil, nil, err
		}
	}
	return c, closeBoth, nil
}

// keepWAL is SQLITE_FCNTL_PERSIST_WAL. The driver is asked by what it can do, so that this is read on systems without it.
func keepWAL(driverConn any) error {
	const persistWAL = 10
	return driverConn.(interface {
		SetFileControlInt(database string, code, value int) error
	}).SetFileControlInt("main", persistWAL, 1)
}

// Writer is a process that writes to a store at a steady pace and measures how long it had to wait: tests run it beside a
// sidecar. It is a program of its own so that no race detector slows it down.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

// work is what it has done until its input ended.
type work struct {
	Commits int
	Slowest time.Duration // of one, from asking for the lock until it is committed
	Errors  []string
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(store, session, every string) error {
	interval, err := time.ParseDuration(every)
	if err != nil {
		return err
	}
	// Python's sqlite3 waits five seconds for a lock.
	uri := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(store), "/"), RawQuery: "_busy_timeout=5000&_txlock=immediate&mode=rw"}
	db, err := sql.Open("sqlite3", uri.String())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if err := write(db, session, 0); err != nil {
		return err
	}
	fmt.Println("writing")
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	done := work{Commits: 1}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return json.NewEncoder(os.Stdout).Encode(done)
		case <-ticks.C:
		}
		begun := time.Now()
		if err := write(db, session, done.Commits); err != nil {
			done.Errors = append(done.Errors, err.Error())
			continue
		}
		done.Commits++
		done.Slowest = max(done.Slowest, time.Since(begun))
	}
}

// write appends a message, as a turn does.
func write(db *sql.DB, session string, n int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)`,
		session, fmt.Sprintf("canary7d1f0a message %d of a turn", n), n); err != nil {
		return err
	}
	return tx.Commit()
}

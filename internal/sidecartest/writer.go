package sidecartest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"
)

// StoreWriter is another process that commits a message to a store at a steady pace, and measures itself.
type StoreWriter struct{ helper *helper }

// Written is what a StoreWriter has done until it stopped.
type Written struct {
	Commits int
	Slowest time.Duration // of one, from asking for the lock until it is committed
	Errors  []string
}

// StartWriter lets another process, which no race detector slows down, append a message to a session in each of the intervals, and
// waits for the first.
func StartWriter(t testing.TB, store, session string, every time.Duration) *StoreWriter {
	t.Helper()
	w := &StoreWriter{startHelper(t, as(Binary(t, helperProgram), roleWriter, store, session, every.String()))}
	w.helper.line("it does not write")
	return w
}

// Stop ends it.
func (w *StoreWriter) Stop() (done Written) {
	w.helper.t.Helper()
	w.helper.stop(&done)
	return done
}

// beWriter is the other side of StartWriter.
func beWriter(args []string) error {
	store, session := args[0], args[1]
	interval, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	db, err := openAsAgent(store)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if err := commitMessage(db, session, 0); err != nil {
		return err
	}
	fmt.Println("writing")
	done := Written{Commits: 1}
	ended := inputEnds()
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return json.NewEncoder(os.Stdout).Encode(done)
		case <-ticks.C:
		}
		begun := time.Now()
		if err := commitMessage(db, session, done.Commits); err != nil {
			done.Errors = append(done.Errors, err.Error())
			continue
		}
		done.Commits++
		done.Slowest = max(done.Slowest, time.Since(begun))
	}
}

func commitMessage(db *sql.DB, session string, n int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := insertMessage(tx, session, n, n); err != nil {
		return err
	}
	return tx.Commit()
}

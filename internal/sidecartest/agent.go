package sidecartest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"
)

// leaseTime is how long a turn lease holds unless it is renewed.
const leaseTime = 30 * time.Second

// Agent is another process in the middle of a turn: it holds a store open, writes to it, and keeps a session leased.
type Agent struct {
	helper *helper
	Holder string // of its turn lease
}

// AgentWork is what an Agent has done until it stopped.
type AgentWork struct {
	Messages int      // written and committed
	Renewals int      // of its lease
	Errors   []string // of any statement
}

// StartAgent lets another process take a turn lease on a session, and waits until it has it. From then on, until Stop, it
// appends a message to the session and renews the lease in each of the intervals. At the test's end it is killed.
func StartAgent(t testing.TB, store, session string, every time.Duration) *Agent {
	t.Helper()
	a := &Agent{helper: startHelper(t, as(itself(t), roleAgent, store, session, every.String()))}
	t.Cleanup(a.Kill)
	a.Holder = a.helper.line("the Agent does not hold its lease")
	return a
}

// Stop lets the Agent end its turn: it gives its lease back and ends.
func (a *Agent) Stop() (work AgentWork) {
	a.helper.t.Helper()
	a.helper.stop(&work)
	return work
}

// Kill ends the Agent in the middle of its turn: its lease stays.
func (a *Agent) Kill() { a.helper.kill() }

// beAgent is the other side of StartAgent.
func beAgent(args []string) error {
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
	process, err := processName(os.Getpid())
	if err != nil {
		return err
	}
	holder := "agent:" + process
	if err := renew(db, session, holder); err != nil {
		return err
	}
	fmt.Println(holder)
	work := takeTurn(db, session, holder, interval)
	if _, err := db.Exec(`DELETE FROM session_turn_leases WHERE conversation_id = ? AND holder = ?`, session, holder); err != nil {
		work.Errors = append(work.Errors, err.Error())
	}
	return json.NewEncoder(os.Stdout).Encode(work)
}

func takeTurn(db *sql.DB, session, holder string, interval time.Duration) (work AgentWork) {
	ended := inputEnds()
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return work
		case <-ticks.C:
		}
		if err := appendMessage(db, session, work.Messages); err != nil {
			work.Errors = append(work.Errors, "write: "+err.Error())
		} else {
			work.Messages++
		}
		if err := renew(db, session, holder); err != nil {
			work.Errors = append(work.Errors, "renew: "+err.Error())
		} else {
			work.Renewals++
		}
	}
}

// appendMessage writes a message after a look at those that are there, as a turn does, in one transaction.
func appendMessage(db *sql.DB, session string, n int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var there int
	if err := tx.QueryRow(`SELECT count(*) FROM messages WHERE session_id = ?`, session).Scan(&there); err != nil {
		return err
	}
	if err := insertMessage(tx, session, n, there); err != nil {
		return err
	}
	return tx.Commit()
}

// insertMessage writes the n-th message of a process here.
func insertMessage(tx *sql.Tx, session string, n, timestamp int) error {
	_, err := tx.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)`,
		session, fmt.Sprintf(Canary+" message %d of a turn", n), timestamp)
	return err
}

func renew(db *sql.DB, session, holder string) error {
	now := float64(time.Now().UnixMilli()) / 1000
	_, err := db.Exec(`INSERT INTO session_turn_leases VALUES (?, ?, ?, ?)
		ON CONFLICT (conversation_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at`,
		session, holder, now, now+leaseTime.Seconds())
	return err
}

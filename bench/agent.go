package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// agentVariable makes this program write to the store that it names, as an Agent in the middle of a turn does.
const agentVariable = "BENCH_AGENT_STORE"

const (
	agentSessionVariable = "BENCH_AGENT_SESSION"
	commitEvery          = 5 * time.Millisecond
)

// writingAgent is another process that commits a message every few milliseconds.
type writingAgent struct{ *process }

func startAgent(ctx context.Context, store, session string) (*writingAgent, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), agentVariable+"="+store, agentSessionVariable+"="+session)
	cmd.Stderr = os.Stderr
	p, err := start(cmd)
	return &writingAgent{p}, err
}

// commits gives how long each commit took since this was last asked.
func (a *writingAgent) commits() (took []time.Duration, err error) {
	line, err := a.exchange([]byte("\n"))
	if err != nil {
		return nil, errors.Join(errors.New("the Agent has ended"), err)
	}
	return took, json.Unmarshal(line, &took)
}

// after gives how long the commits of some time took, of which there is at least one.
func (a *writingAgent) after(ctx context.Context, wait time.Duration) (took []time.Duration, err error) {
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for len(took) == 0 && err == nil {
		took, err = a.commits()
	}
	return took, err
}

// agentIfAsked is the other side of startAgent.
func agentIfAsked() {
	store := os.Getenv(agentVariable)
	if store == "" {
		return
	}
	if err := beAgent(store, os.Getenv(agentSessionVariable)); err != nil {
		fmt.Fprintln(os.Stderr, "the Agent of the benchmark:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func beAgent(store, session string) error {
	// Python's sqlite3 waits five seconds for a lock.
	db, err := sql.Open("sqlite3", uri(store, "_busy_timeout=5000&_txlock=immediate&mode=rw"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	asked := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			asked <- struct{}{}
		}
		close(asked)
	}()
	ticks := time.NewTicker(commitEvery)
	defer ticks.Stop()
	took := []time.Duration{}
	for n := 0; ; n++ {
		select {
		case _, open := <-asked:
			if !open {
				return nil
			}
			if err := json.NewEncoder(os.Stdout).Encode(took); err != nil {
				return err
			}
			took = took[:0]
		case <-ticks.C:
			start := time.Now()
			if err := say(db, session, n); err != nil {
				return err
			}
			took = append(took, time.Since(start))
		}
	}
}

func say(db *sql.DB, session string, n int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.Exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'assistant', ?, ?)",
		session, fmt.Sprintf("%d %s", n, strings.Repeat("word ", messageBytes/5)), n)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE sessions SET message_count = message_count + 1 WHERE id = ?", session); err != nil {
		return err
	}
	return tx.Commit()
}

package sidecartest

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// agentVariable makes a test binary write to a store, as an Agent in the middle of a turn does, instead of running tests.
const agentVariable = "SIDECARTEST_AGENT"

// leaseTime is how long a turn lease holds unless it is renewed.
const leaseTime = 30 * time.Second

// Agent is another process that holds a store open and writes to it.
type Agent struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	Holder string // of its turn lease
}

// AgentWork is what an Agent has done until it stopped.
type AgentWork struct {
	Messages int      // written and committed
	Renewals int      // of its lease
	Errors   []string // of any statement
}

// StartAgent lets another process take a turn lease on a session, and waits until it has it. From then on, until Stop, it
// appends a message to the session and renews the lease in each of the intervals.
func StartAgent(t testing.TB, store, session string, every time.Duration) *Agent {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), agentVariable+"="+store, "SIDECARTEST_AGENT_SESSION="+session, "SIDECARTEST_AGENT_EVERY="+every.String())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	a := &Agent{t: t, cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	t.Cleanup(func() {
		if a.cmd.ProcessState == nil {
			a.Kill()
		}
	})
	line, err := a.stdout.ReadString('\n')
	require.NoError(t, err, "the Agent does not hold its lease")
	a.Holder = strings.TrimSuffix(line, "\n")
	return a
}

// Stop lets the Agent end its turn: it gives its lease back and ends.
func (a *Agent) Stop() (work AgentWork) {
	a.t.Helper()
	_ = a.stdin.Close()
	require.NoError(a.t, json.NewDecoder(a.stdout).Decode(&work))
	require.NoError(a.t, a.cmd.Wait())
	return work
}

// Kill ends the Agent in the middle of its turn: its lease stays.
func (a *Agent) Kill() {
	_ = a.cmd.Process.Kill()
	_ = a.stdin.Close()
	_ = a.cmd.Wait()
}

// agentIfAsked is the other side of StartAgent.
func agentIfAsked() {
	store := os.Getenv(agentVariable)
	if store == "" {
		return
	}
	if err := beAgent(store, os.Getenv("SIDECARTEST_AGENT_SESSION"), os.Getenv("SIDECARTEST_AGENT_EVERY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func beAgent(store, session, every string) error {
	interval, err := time.ParseDuration(every)
	if err != nil {
		return err
	}
	// Python's sqlite3 waits five seconds for a lock.
	db, err := sql.Open("sqlite3", storeURI(store, "_busy_timeout=5000&_txlock=immediate&mode=rw"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	namespace = strings.TrimSuffix(strings.TrimPrefix(namespace, "pid:["), "]")
	holder := fmt.Sprintf("agent:pid=%d:pidns=%s", os.Getpid(), namespace)
	if err := renew(db, session, holder); err != nil {
		return err
	}
	fmt.Println(holder)
	ended, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	work := writeUntil(ended, db, session, holder, interval)
	if _, err := db.Exec(`DELETE FROM session_turn_leases WHERE conversation_id = ? AND holder = ?`, session, holder); err != nil {
		work.Errors = append(work.Errors, err.Error())
	}
	return json.NewEncoder(os.Stdout).Encode(work)
}

func writeUntil(ended context.Context, db *sql.DB, session, holder string, interval time.Duration) (work AgentWork) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ended.Done():
			return work
		case <-ticks.C:
		}
		if err := write(db, session, work.Messages); err != nil {
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

// write appends a message after a look at those that are there, as a turn does, in one transaction.
func write(db *sql.DB, session string, n int) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var there int
	if err := tx.QueryRow(`SELECT count(*) FROM messages WHERE session_id = ?`, session).Scan(&there); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)`,
		session, fmt.Sprintf(Canary+" message %d of a turn", n), there)
	if err != nil {
		return err
	}
	return tx.Commit()
}

func renew(db *sql.DB, session, holder string) error {
	now := float64(time.Now().UnixMilli()) / 1000
	_, err := db.Exec(`INSERT INTO session_turn_leases VALUES (?, ?, ?, ?)
		ON CONFLICT (conversation_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at`,
		session, holder, now, now+leaseTime.Seconds())
	return err
}

package sidecartest

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// holdVariable makes a test binary hold a store's write lock instead of running tests.
const holdVariable = "SIDECARTEST_HOLD_WRITE_LOCK"

// Holder is another process that holds a lock.
type Holder struct{ release func() }

// HoldWriteLock lets another process take a store's write lock, and waits until it has it. A duration of 0 holds it
// until Release.
func HoldWriteLock(t testing.TB, store string, duration time.Duration) *Holder {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdVariable+"="+store, "SIDECARTEST_HOLD_FOR="+duration.String())
	return startHolder(t, cmd)
}

func startHolder(t testing.TB, cmd *exec.Cmd) *Holder {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	h := &Holder{func() {
		_ = stdin.Close()
		_ = cmd.Wait() // a second Release finds it ended
	}}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "held\n" {
		h.Release()
		require.Fail(t, "the lock was not taken", "%q, %v", line, err)
	}
	t.Cleanup(h.Release)
	return h
}

// Release lets go of the lock and waits for the process's end.
func (h *Holder) Release() { h.release() }

// holdIfAsked is the other side of HoldWriteLock.
func holdIfAsked() {
	store := os.Getenv(holdVariable)
	if store == "" {
		return
	}
	if err := holdWriteLock(store, os.Getenv("SIDECARTEST_HOLD_FOR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func holdWriteLock(store, duration string) error {
	limit, err := time.ParseDuration(duration)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", storeURI(store, "_busy_timeout=10000&mode=rw"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("held")
	released := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(released)
	}()
	if limit == 0 {
		<-released
	} else {
		select {
		case <-released:
		case <-time.After(limit):
		}
	}
	_, err = db.Exec("COMMIT")
	return err
}

package sidecartest

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Holder is another process that holds a lock.
type Holder struct{ release func() }

// Release lets go of the lock and waits for the process's end.
func (h *Holder) Release() { h.release() }

// HoldWriteLock lets another process take a store's write lock, and waits until it has it. A duration of 0 holds it
// until Release.
func HoldWriteLock(t testing.TB, store string, duration time.Duration) *Holder {
	t.Helper()
	return startHolder(t, as(itself(t), roleLockHolder, store, duration.String()))
}

// held is what a process says that has taken a lock.
const held = "held"

func startHolder(t testing.TB, cmd *exec.Cmd) *Holder {
	t.Helper()
	h := startHelper(t, cmd)
	require.Equal(t, held, h.line("the lock was not taken"))
	return &Holder{func() { _ = h.end() }}
}

// holdWriteLock is the other side of HoldWriteLock.
func holdWriteLock(args []string) error {
	limit, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	db, err := openStore(args[0], "rw")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println(held)
	var over <-chan time.Time // never, where there is no limit
	if limit > 0 {
		over = time.After(limit)
	}
	select {
	case <-inputEnds():
	case <-over:
	}
	_, err = db.Exec("COMMIT")
	return err
}

package sidecartest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StoreWriter is another process that commits a message to a store at a steady pace, and measures itself.
type StoreWriter struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

// Written is what a StoreWriter has done until it stopped.
type Written struct {
	Commits int
	Slowest time.Duration // of one commit, the wait for the lock included
	Errors  []string
}

// StartWriter lets another process append a message to a session in each of the intervals, and waits for the first.
func StartWriter(t testing.TB, store, session string, every time.Duration) *StoreWriter {
	t.Helper()
	cmd := exec.Command(Binary(t, Writer), store, session, every.String())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	w := &StoreWriter{t: t, cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	t.Cleanup(func() {
		if w.cmd.ProcessState == nil {
			_ = w.cmd.Process.Kill()
			_ = w.cmd.Wait()
		}
	})
	_, err = w.stdout.ReadString('\n')
	require.NoError(t, err, "it does not write")
	return w
}

// Stop ends it.
func (w *StoreWriter) Stop() (done Written) {
	w.t.Helper()
	_ = w.stdin.Close()
	require.NoError(w.t, json.NewDecoder(w.stdout).Decode(&done))
	require.NoError(w.t, w.cmd.Wait())
	return done
}

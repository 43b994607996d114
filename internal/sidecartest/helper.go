package sidecartest

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/storeuri"
)

// roleVariable makes a test binary play the other process of a test instead of running tests. What the role needs to know is in its
// arguments.
const roleVariable = "SIDECARTEST_ROLE"

// role is what another process of a test does until its input ends.
type role string

const (
	roleAgent      role = "agent"
	roleIdleAgent  role = "idle-agent"
	roleLockHolder role = "lock-holder"
	roleWriter     role = "writer"
)

// PlayIfAsked is the other side of every Start and Hold here. It returns only where this process has no role to play.
func PlayIfAsked() {
	var play func(args []string) error
	switch role(os.Getenv(roleVariable)) {
	case roleAgent:
		play = beAgent
	case roleIdleAgent:
		play = beIdleAgent
	case roleLockHolder:
		play = holdWriteLock
	case roleWriter:
		play = beWriter
	default:
		return
	}
	if err := play(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// as makes a program, a test binary or that of HelperProgram, play a role.
func as(program string, played role, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(played))
	return cmd
}

// itself is the program of the test that runs.
func itself(t testing.TB) string {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	return program
}

// helper is another process of a test, with its pipes. It ends at the end of its input, and with the test.
type helper struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
}

func startHelper(t testing.TB, cmd *exec.Cmd) *helper {
	t.Helper()
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	h := &helper{t, cmd, stdin, bufio.NewReader(stdout)}
	t.Cleanup(func() { _ = h.end() })
	return h
}

// line waits for what it says next.
func (h *helper) line(complaint string) string {
	h.t.Helper()
	line, err := h.lines.ReadString('\n')
	require.NoError(h.t, err, complaint)
	return line[:len(line)-1]
}

// end lets it come to its end and waits for that. A second end finds it ended.
func (h *helper) end() error {
	_ = h.stdin.Close()
	return h.cmd.Wait()
}

// stop is end for one that tells at its end what it has done.
func (h *helper) stop(done any) {
	h.t.Helper()
	_ = h.stdin.Close()
	require.NoError(h.t, json.NewDecoder(h.lines).Decode(done))
	require.NoError(h.t, h.cmd.Wait())
}

// kill ends it in the midst of what it does.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.end()
}

// inputEnds is closed when this process, which plays a role, is to come to its end.
func inputEnds() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	return ended
}

// openAsAgent opens a store as Python's sqlite3 does, which waits five seconds for a lock.
func openAsAgent(store string) (*sql.DB, error) {
	return sql.Open("sqlite3", storeuri.Of(store, url.Values{"_busy_timeout": {"5000"}, "_txlock": {"immediate"}, "mode": {"rw"}}))
}

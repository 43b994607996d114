package sidecartest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for what must come; it only ever runs out when something is broken.
const patience = 3 * time.Minute

// Process is a running sidecar with its pipes.
type Process struct {
	t      testing.TB
	Cmd    *exec.Cmd
	Stdin  io.WriteCloser
	lines  chan string
	stderr *Buffer

	mu            sync.Mutex
	notifications []Reply // not taken yet

	exited   chan struct{}
	exitCode int
	ended    atomic.Bool // by Kill
}

// Option changes how a process is started.
type Option func(*exec.Cmd)

// Env adds to the process's environment.
func Env(assignments ...string) Option {
	return func(c *exec.Cmd) { c.Env = append(c.Env, assignments...) }
}

// Dir sets the process's working directory.
func Dir(path string) Option { return func(c *exec.Cmd) { c.Dir = path } }

// Start runs the program with pipes. It is killed when the test ends, if it still runs.
func Start(t testing.TB, kind Build, options ...Option) *Process {
	t.Helper()
	return StartCommand(t, exec.Command(Binary(t, kind)), options...)
}

// StartCommand is Start for a program that somebody else has built, or for what runs it.
func StartCommand(t testing.TB, cmd *exec.Cmd, options ...Option) *Process {
	t.Helper()
	cmd.Env = append(os.Environ(), "SIDECAR_LOG_LEVEL=debug") // all that may ever be logged is looked through
	for _, option := range options {
		option(cmd)
	}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	p := &Process{
		t: t, Cmd: cmd, Stdin: stdin, lines: make(chan string, 4096), stderr: &Buffer{},
		exited: make(chan struct{}),
	}
	if cmd.Stderr == nil {
		cmd.Stderr = p.stderr
	}
	require.NoError(t, cmd.Start())
	go p.collect(stdout)
	t.Cleanup(func() {
		p.Kill()
		<-p.exited
		RequireSilent(t, p.stderr.String())
	})
	return p
}

func (p *Process) collect(stdout io.Reader) {
	reader := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := reader.ReadString('\n')
		switch frame, unasked := asNotification(line); {
		case unasked:
			p.mu.Lock()
			p.notifications = append(p.notifications, frame)
			p.mu.Unlock()
		case line != "":
			p.lines <- line
		}
		if err != nil {
			break
		}
	}
	close(p.lines)
	err := p.Cmd.Wait()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		p.exitCode = exit.ExitCode()
	} else if err != nil {
		p.exitCode = -1
	}
	if p.exitCode == -1 && !p.ended.Load() {
		noteKill(p.Cmd.Env)
	}
	close(p.exited)
}

// asNotification reads a line that nobody asked for. A stream frame belongs to a call.
func asNotification(line string) (frame Reply, unasked bool) {
	err := json.Unmarshal([]byte(line), &frame)
	return frame, err == nil && frame.Method != "" && frame.Method != "stream"
}

// Notification waits for the next notification of that name; others before it are left for later.
func (p *Process) Notification(method string) Reply {
	p.t.Helper()
	var found Reply
	require.Eventually(p.t, func() bool {
		for _, n := range p.takeNotifications(method, 1) {
			found = n
			return true
		}
		return false
	}, patience, time.Millisecond, "no %s came; standard error: %s", method, p.stderr)
	return found
}

// Notifications takes those of that name that have come by now.
func (p *Process) Notifications(method string) []Reply { return p.takeNotifications(method, -1) }

func (p *Process) takeNotifications(method string, most int) (taken []Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notifications = slices.DeleteFunc(p.notifications, func(n Reply) bool {
		if n.Method != method || len(taken) == most {
			return false
		}
		taken = append(taken, n)
		return true
	})
	return taken
}

// Send writes text as it is.
func (p *Process) Send(text string) {
	p.t.Helper()
	namedIn(text)
	_, err := io.WriteString(p.Stdin, text)
	require.NoError(p.t, err, "the sidecar does not read: %s", p.stderr)
}

// Line waits for the next line of standard output that is no notification, and checks that it is one JSON document.
func (p *Process) Line() string {
	p.t.Helper()
	line, ok := p.TryLine(patience)
	require.True(p.t, ok, "no line came; standard error: %s", p.stderr)
	return line
}

// TryLine waits for such a line for a while.
func (p *Process) TryLine(limit time.Duration) (string, bool) {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if ok {
			require.True(p.t, json.Valid([]byte(line)), "standard output holds something but JSON: %q", line)
		}
		return line, ok
	case <-time.After(limit):
		return "", false
	}
}

// CloseStdin ends the input.
func (p *Process) CloseStdin() { _ = p.Stdin.Close() }

// Kill ends the process at once.
func (p *Process) Kill() {
	p.ended.Store(true)
	_ = p.Cmd.Process.Kill()
	_ = p.Stdin.Close()
}

// Wait gives the exit code once the process has ended and all its output was read.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.exitCode
	case <-time.After(patience):
		require.Fail(p.t, "the sidecar does not end", "standard error: %s", p.stderr)
		return -1
	}
}

// Stderr is what the process has logged.
func (p *Process) Stderr() string { return p.stderr.String() }

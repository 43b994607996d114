package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// patience is how long a test waits for what must come; it only ever runs out when something is broken.
const patience = 60 * time.Second

// spawnVariable makes this test binary a host: it starts the program that the variable names, and waits for its end.
const spawnVariable = "SIDECAR_TEST_SPAWN"

func TestMain(m *testing.M) {
	if program := os.Getenv(spawnVariable); program != "" {
		cmd := exec.Command(program)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		fmt.Fprintln(os.Stderr, "the host ends:", cmd.Run())
		return
	}
	if os.Getenv("GORACE") == "" {
		// The race detector holds every process that ends well for a second, which is no time of the program's own.
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	sidecartest.Main(m)
}

// child is a process whose pipes the test holds itself, so that it can close them or leave them unread.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	lines *bufio.Reader
	log   string // the file that is its standard error
}

// launch starts the program, with its log in a file. change may change the command before.
func launch(t *testing.T, change ...func(*exec.Cmd)) *child {
	t.Helper()
	theirIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, theirOut, err := os.Pipe()
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain))
	cmd.Env = append(os.Environ(), "SIDECAR_LOG_LEVEL=debug")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, log
	for _, c := range change {
		c(cmd)
	}
	require.NoError(t, cmd.Start())
	for _, file := range []*os.File{theirIn, theirOut, log} {
		require.NoError(t, file.Close())
	}
	c := &child{t: t, cmd: cmd, in: in, out: out, lines: bufio.NewReader(out), log: log.Name()}
	t.Cleanup(func() {
		_ = in.Close() // which ends a sidecar that this process did not start itself
		_, _ = io.Copy(io.Discard, out)
		_ = out.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		sidecartest.RequireSilent(t, c.logged())
	})
	return c
}

func (c *child) send(text string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, text+"\n")
	require.NoError(c.t, err)
}

func (c *child) reply() (reply sidecartest.Reply) {
	c.t.Helper()
	_ = c.out.SetReadDeadline(time.Now().Add(patience))
	for {
		line, err := c.lines.ReadString('\n')
		require.NoError(c.t, err, "log: %s", c.logged())
		reply = sidecartest.Reply{}
		require.NoError(c.t, json.Unmarshal([]byte(line), &reply), line)
		if reply.Method == "" || reply.Method == "stream" { // what comes unasked is no reply
			return reply
		}
	}
}

func (c *child) logged() string {
	text, err := os.ReadFile(c.log)
	require.NoError(c.t, err)
	return string(text)
}

// wait gives the exit code of the process that was launched.
func (c *child) wait() int {
	c.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	select {
	case err := <-ended:
		return exitCodeOf(c.t, err)
	case <-time.After(patience):
		require.Fail(c.t, "the sidecar does not end", "log: %s", c.logged())
		return -1
	}
}

func exitCodeOf(t *testing.T, err error) int {
	t.Helper()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// ask makes the line of a request.
func ask(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

const handshake = `{"jsonrpc":"2.0","id":"handshake","method":"runtime.handshake","params":{"rpc_version":1}}`

// deletion makes the request to delete a session of a home.
func deletion(t *testing.T, id string, home *sidecartest.Home, session string) string {
	t.Helper()
	params, err := json.Marshal(map[string]string{"profile_home": home.Path, "session_id": session})
	require.NoError(t, err)
	return ask(id, "state_db.delete_cli_session", string(params))
}

// requireError looks at an answer, which must be this error.
func requireError(t *testing.T, reply sidecartest.Reply, id string, code int, condition string) {
	t.Helper()
	require.Equal(t, id, string(reply.ID))
	require.NotNil(t, reply.Error, "a result: %s", reply.Result)
	require.Equal(t, code, reply.Error.Code, reply.Error.Message)
	var data struct{ Condition string }
	if reply.Error.Data != nil {
		require.NoError(t, json.Unmarshal(reply.Error.Data, &data))
	}
	require.Equal(t, condition, data.Condition)
}

// storeWith makes a home with a store of one session, s1.
func storeWith(t *testing.T, schema string) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(schema, `INSERT INTO sessions(id, source, started_at) VALUES ('s1', 'cli', 1)`)
	return home
}

// holdLock takes the lock of a home's deletes, as another program would, so that a delete waits until free is called.
func holdLock(t *testing.T, home *sidecartest.Home) (free func()) {
	t.Helper()
	lock := flock.New(filepath.Join(home.Path, ".session_cleanup.lock"))
	taken, err := lock.TryLock()
	require.NoError(t, err)
	require.True(t, taken)
	free = func() { _ = lock.Unlock() }
	t.Cleanup(free)
	return free
}

// awaitInFlight waits until so many calls run, the one that asks included.
func awaitInFlight(t *testing.T, calls int, status func() sidecartest.Reply) {
	t.Helper()
	for begun := time.Now(); ; {
		reply := status()
		require.Nil(t, reply.Error)
		if strings.Contains(string(reply.Result), fmt.Sprintf(`"in_flight":%d,`, calls)) {
			return
		}
		require.Less(t, time.Since(begun), patience, "%s", reply.Result)
	}
}

package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// patience is how long a test waits for what must come; it only ever runs out when something is broken.
const patience = 30 * time.Second

// plainOutput has all tests serve over an output that is not Immediate.
var plainOutput = os.Getenv("SIDECAR_TEST_PLAIN_OUTPUT") != ""

// host is the other side of a server: it writes and reads real pipes, and reads only when the test asks it to.
type host struct {
	t      *testing.T
	server *Server
	in     *os.File // where the host writes
	out    *os.File // where the host reads
	lines  *bufio.Reader
	log    *sidecartest.Buffer
	stop   context.CancelFunc // what a signal does
	exited chan struct{}
	code   int
}

// start serves a router over pipes. maxCalls of 0 is the default; change may change the server before it serves.
func start(t *testing.T, router Router, maxCalls int, change ...func(*Server)) *host {
	t.Helper()
	serverIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, serverOut, err := os.Pipe()
	require.NoError(t, err)
	log := &sidecartest.Buffer{}
	ctx, stop := context.WithCancel(context.Background())
	h := &host{
		t: t, server: New(router, slog.New(slog.NewJSONHandler(log, nil)), maxCalls), log: log,
		in: in, out: out, lines: bufio.NewReader(out), stop: stop, exited: make(chan struct{}),
	}
	for _, c := range change {
		c(h.server)
	}
	var output io.WriteCloser = serverOut
	if !plainOutput {
		output = TakeOutput(serverOut)
	}
	go func() {
		h.code = h.server.Serve(ctx, serverIn, output)
		_ = output.Close() // as the end of the process does
		close(h.exited)
	}()
	t.Cleanup(func() {
		stop()
		_ = in.Close()
		_ = out.Close()
		<-h.exited
		_ = serverIn.Close()
	})
	return h
}

// quickly makes the times of an orderly end as short as they go, for what must come after them.
func quickly(s *Server) { s.drainFor, s.giveUpIn = time.Millisecond, patience }

func (h *host) send(lines ...string) {
	h.t.Helper()
	_, err := io.WriteString(h.in, strings.Join(lines, "\n")+"\n")
	require.NoError(h.t, err)
}

// ask makes the line of a request.
func ask(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// line waits for the next frame.
func (h *host) line() string {
	h.t.Helper()
	_ = h.out.SetReadDeadline(time.Now().Add(patience)) // where pipes have deadlines
	line, err := h.lines.ReadString('\n')
	require.NoError(h.t, err, "no frame came; log: %s", h.log)
	require.True(h.t, json.Valid([]byte(line)), "not JSON: %q", line)
	return strings.TrimSuffix(line, "\n")
}

// reply is one answer.
type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    struct{ Condition, Incident string }
	}
}

func (h *host) reply() reply {
	h.t.Helper()
	var r reply
	require.NoError(h.t, json.Unmarshal([]byte(h.line()), &r))
	return r
}

// replies waits for answers that may come in any order.
func (h *host) replies(n int) map[string]reply {
	h.t.Helper()
	found := map[string]reply{}
	for range n {
		r := h.reply()
		require.NotContains(h.t, found, string(r.ID), "answered twice")
		found[string(r.ID)] = r
	}
	return found
}

// requireError waits for the next answer, which must be this error.
func (h *host) requireError(id string, code int, condition string) {
	h.t.Helper()
	h.reply().requireError(h.t, id, code, condition)
}

func (r reply) requireError(t *testing.T, id string, code int, condition string) {
	t.Helper()
	require.Equal(t, id, string(r.ID))
	require.NotNil(t, r.Error, "a result: %s", r.Result)
	require.Equal(t, code, r.Error.Code, r.Error.Message)
	require.Equal(t, condition, r.Error.Data.Condition)
	require.NotEmpty(t, r.Error.Message)
	require.Nil(t, r.Result)
}

func (r reply) requireResult(t *testing.T, result string) {
	t.Helper()
	require.Nil(t, r.Error)
	require.Equal(t, result, string(r.Result))
}

// requireNothingElse shows that no frame is under way: the next one is the answer to a request made now.
func (h *host) requireNothingElse() {
	h.t.Helper()
	h.send(ask(`"nothing else"`, "echo", `{}`))
	require.JSONEq(h.t, `{"jsonrpc":"2.0","id":"nothing else","result":{}}`, h.line())
}

// exit waits for Serve and gives the exit code. Nothing may come any more.
func (h *host) exit() int {
	h.t.Helper()
	rest, err := io.ReadAll(h.lines)
	require.NoError(h.t, err)
	require.Empty(h.t, string(rest))
	<-h.exited
	return h.code
}

// routes is a router of what a test brings, beside echo and cancel.
type routes map[string]Endpoint

func (r routes) Route(method string) (Endpoint, *Error) {
	endpoint, ok := r[method]
	switch {
	case ok:
		return endpoint, nil
	case method == "echo":
		return Endpoint{Call: echo}, nil
	case method == "inline echo":
		return Endpoint{Inline: true, Call: echo}, nil
	case method == "cancel":
		return Endpoint{Inline: true, Call: cancel}, nil
	}
	return Endpoint{}, &Error{Code: CodeMethodNotFound, Message: "no such method"}
}

func echo(_ context.Context, params json.RawMessage) (any, error) { return params, nil }

func cancel(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct{ ID json.RawMessage }
	err := json.Unmarshal(params, &p)
	return FromContext(ctx).Cancel(p.ID), err
}

// gate holds calls until the test opens it.
type gate struct {
	entered chan context.Context
	open    chan struct{}
}

func newGate() *gate { return &gate{make(chan context.Context, 1000), make(chan struct{})} }

// call waits at the gate, or for its cancel.
func (g *gate) call(ctx context.Context, _ json.RawMessage) (any, error) {
	g.entered <- ctx
	select {
	case <-g.open:
		return "through", nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait at the gate: %w", ctx.Err())
	}
}

// stubborn waits at the gate and does not hear a cancel.
func (g *gate) stubborn(ctx context.Context, _ json.RawMessage) (any, error) {
	g.entered <- ctx
	<-g.open
	return "through", nil
}

// await waits until one more call is at the gate, and gives its context.
func (g *gate) await(t *testing.T) context.Context { t.Helper(); return receive(t, g.entered) }

func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		require.Fail(t, "what must happen does not")
	}
	return value
}

package methods

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"session-sidecar/internal/sidecartest"
	"session-sidecar/rpc"
)

// registries are all that were made. They are closed at the end, since stores stay open for a while after a delete.
var registries struct {
	sync.Mutex
	all  []*Registry
	logs []*bytes.Buffer
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, r := range registries.all {
		r.Close()
	}
	for _, log := range registries.logs {
		if found := sidecartest.Overheard(log.String()); len(found) > 0 {
			fmt.Fprintf(os.Stderr, "a log holds what was said in a conversation: %q\n%s\n", found, log)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// newRegistry has every method, and gives what it logs.
func newRegistry() (*Registry, *bytes.Buffer) {
	var log bytes.Buffer
	r := New(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	registries.Lock()
	defer registries.Unlock()
	registries.all, registries.logs = append(registries.all, r), append(registries.logs, &log)
	return r, &log
}

// call runs a method as the transport does and gives its result as it goes on the wire.
func call(t *testing.T, r *Registry, method, params string) (json.RawMessage, error) {
	t.Helper()
	endpoint, refusal := r.Route(method)
	if refusal != nil {
		return nil, refusal
	}
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	result, err := endpoint.Call(t.Context(), raw)
	if err != nil {
		return nil, err
	}
	encoded, err := rpc.Encode(result)
	require.NoError(t, err)
	return encoded, nil
}

// introduced is a registry whose host has introduced itself.
func introduced(t *testing.T) (*Registry, *bytes.Buffer) {
	t.Helper()
	r, log := newRegistry()
	_, err := call(t, r, "runtime.handshake", `{"rpc_version":1}`)
	require.NoError(t, err)
	return r, log
}

// requireCode checks an error answer: its code, and that its message is one line of bounded length.
func requireCode(t *testing.T, err error, code int) *rpc.Error {
	t.Helper()
	var failure *rpc.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, code, failure.Code, failure.Message)
	require.NotContains(t, failure.Message, "\n")
	require.Less(t, len(failure.Message), 300)
	return failure
}

// converse sends lines to a real server over pipes' ends and gives its frames and exit code.
func converse(t *testing.T, r *Registry, lines ...string) (frames []string, exitCode int) {
	t.Helper()
	var in, out bytes.Buffer
	for _, line := range lines {
		in.WriteString(line + "\n")
	}
	exitCode = serverOf(r).Serve(t.Context(), &in, &out)
	for frame := range bytes.Lines(out.Bytes()) {
		frames = append(frames, string(bytes.TrimSpace(frame)))
	}
	return frames, exitCode
}

// serverOf wires a registry as the program does.
func serverOf(r *Registry) *rpc.Server {
	server := rpc.New(r, slog.New(slog.NewTextHandler(io.Discard, nil)), 0)
	r.Attach(server.Notify)
	return server
}

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// burst is a value that cannot be encoded because its own code panics.
type burst struct{}

func (burst) MarshalJSON() ([]byte, error) { panic("/secret/path") }

func TestAnUnexpectedFailureIsAnIncident(t *testing.T) {
	for name, call := range map[string]func() (any, error){
		"an error":              func() (any, error) { return nil, errors.New("open /secret/path: no") },
		"a panic":               func() (any, error) { panic("/secret/path") },
		"a panic of an error":   func() (any, error) { panic(fmt.Errorf("/secret/path")) },
		"a runtime error":       func() (any, error) { return []int{}[len("/secret/path")], nil },
		"a panic in encoding":   func() (any, error) { return burst{}, nil },
		"no JSON for a result":  func() (any, error) { return map[string]any{"/secret/path": func() {}}, nil },
		"a deadline that ended": func() (any, error) { return nil, context.DeadlineExceeded },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			endpoint := Endpoint{Call: func(context.Context, json.RawMessage) (any, error) { return call() }}
			inline := endpoint
			inline.Inline = true
			h := start(t, routes{"fail": endpoint, "inline fail": inline, "wait": {Call: g.call}}, 0)
			h.send(ask(`"other"`, "wait", `{}`))
			other := g.await(t)
			for _, method := range []string{"fail", "inline fail"} {
				h.send(ask(`1`, method, `{}`))
				line := h.line()
				require.NotContains(t, line, "secret")
				var r reply
				require.NoError(t, json.Unmarshal([]byte(line), &r))
				r.requireError(t, `1`, CodeInternal, "")
				require.Regexp(t, `^[0-9a-f]{8}$`, r.Error.Data.Incident)
				require.Contains(t, h.log.String(), `"incident":"`+r.Error.Data.Incident+`"`)
			}
			// Other calls live on.
			require.NoError(t, other.Err())
			close(g.open)
			h.reply().requireResult(t, `"through"`)
		})
	}
}

func TestTheLogHasTheDetailOfAFailure(t *testing.T) {
	h := start(t, routes{
		"error": {Call: func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("open /secret/a") }},
		"panic": {Call: func(context.Context, json.RawMessage) (any, error) { panic("open /secret/b") }},
	}, 0)
	h.send(ask(`1`, "error", `{}`))
	first := h.reply()
	require.Contains(t, h.log.String(), "open /secret/a")
	h.send(ask(`2`, "panic", `{}`))
	second := h.reply()
	require.Contains(t, h.log.String(), "open /secret/b")
	require.Contains(t, h.log.String(), "failure_test.go", "the stack tells where")
	require.NotEqual(t, first.Error.Data.Incident, second.Error.Data.Incident)
}

func TestAnExpectedErrorIsAnsweredAsItIs(t *testing.T) {
	failure := &Error{Code: CodeApplication, Message: "no <store> & no home", Data: Condition{Condition: "io_error", Detail: "why"}}
	h := start(t, routes{
		"plain":   {Call: func(context.Context, json.RawMessage) (any, error) { return nil, failure }},
		"wrapped": {Call: func(context.Context, json.RawMessage) (any, error) { return "x", fmt.Errorf("at /secret: %w", failure) }},
		"data": {Call: func(context.Context, json.RawMessage) (any, error) {
			return nil, &Error{Code: CodeApplication, Message: "no", Data: func() {}}
		}},
	}, 0)
	for _, method := range []string{"plain", "wrapped"} {
		h.send(ask(`1`, method, `{}`))
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no <store> & no home","data":{"condition":"io_error","detail":"why"}}}`, h.line())
	}
	require.Empty(t, h.log.String())

	// Data that cannot be encoded is left out; the rest still answers.
	h.send(ask(`1`, "data", `{}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`, h.line())
	require.Contains(t, h.log.String(), "could not be encoded")
}

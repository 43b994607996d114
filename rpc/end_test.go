package rpc

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheEndOfInputEndsAnIdleServer(t *testing.T) {
	h := start(t, routes{}, 0)
	require.NoError(t, h.in.Close())
	require.Equal(t, 0, h.exit())
}

func TestCallsInFlightFinishAfterTheEndOfInput(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	h.send(ask(`1`, "wait", `{}`), ask(`2`, "wait", `{}`))
	ctx := g.await(t)
	g.await(t)
	require.NoError(t, h.in.Close())
	receive(t, h.server.calls.end)
	require.NoError(t, ctx.Err(), "the end of input is no cancel")
	close(g.open)
	for _, r := range h.replies(2) {
		r.requireResult(t, `"through"`)
	}
	require.Equal(t, 0, h.exit())
}

func TestASignalIsTheSameEnd(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	h.send(ask(`1`, "wait", `{}`))
	ctx := g.await(t)
	h.stop()
	receive(t, h.server.calls.end)
	require.NoError(t, ctx.Err())
	close(g.open)
	h.reply().requireResult(t, `"through"`)
	require.Equal(t, 0, h.exit())
}

func TestWhatDoesNotFinishInTimeIsCancelledAndAnswered(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}, "stubborn": {Call: g.stubborn}}, 0, quickly)
	h.send(ask(`1`, "wait", `{}`), ask(`2`, "stubborn", `{}`))
	g.await(t)
	g.await(t)
	require.NoError(t, h.in.Close())
	h.requireError(`1`, CodeCancelled, "cancelled")
	close(g.open) // past its point of no return: it ends with its result
	h.reply().requireResult(t, `"through"`)
	require.Equal(t, 0, h.exit())
}

func TestACallThatNeverEndsDoesNotHoldTheEndUp(t *testing.T) {
	g := newGate()
	h := start(t, routes{"stubborn": {Call: g.stubborn}}, 0, func(s *Server) {
		s.drainFor, s.giveUpIn = time.Millisecond, time.Millisecond
	})
	h.send(ask(`1`, "stubborn", `{}`))
	g.await(t)
	require.NoError(t, h.in.Close())
	require.Equal(t, 0, h.exit())
	close(g.open) // its answer comes too late and goes nowhere
}

// The host may be gone for half a second before that is seen, and the log is given a tenth of one at the end.
func TestNoServerOutlivesItsHostBySevenSeconds(t *testing.T) {
	s := New(routes{}, nil, 0)
	require.Equal(t, 5*time.Second, s.drainFor)
	require.Less(t, s.drainFor+s.giveUpIn+600*time.Millisecond, 7*time.Second)
}

func TestACallCanEndTheServer(t *testing.T) {
	g := newGate()
	end := func(ctx context.Context, params json.RawMessage) (any, error) {
		var p struct{ Code int }
		err := json.Unmarshal(params, &p)
		FromContext(ctx).End(p.Code)
		return "ending", err
	}
	h := start(t, routes{"wait": {Call: g.call}, "end": {Inline: true, Call: end}}, 0)
	h.send(ask(`1`, "wait", `{}`))
	g.await(t)
	h.send(ask(`2`, "end", `{"code":7}`))
	h.reply().requireResult(t, `"ending"`)

	// No call begins any more, but one in flight can be cancelled, and only the first end counts.
	h.send(ask(`3`, "wait", `{}`))
	h.requireError(`3`, CodeApplication, "shutting_down")
	h.send(ask(`4`, "end", `{"code":8}`))
	h.reply().requireResult(t, `"ending"`)
	h.send(ask(`5`, "cancel", `{"id":1}`))
	answers := h.replies(2)
	answers[`5`].requireResult(t, `true`)
	answers[`1`].requireError(t, `1`, CodeCancelled, "cancelled")
	require.Equal(t, 7, h.exit())
	require.Empty(t, g.entered)
}

func TestARequestAfterTheEndNeverRuns(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	h.server.End(3)
	require.Equal(t, 3, h.exit())
	h.server.handle(t.Context(), []byte(ask(`1`, "wait", `{}`)))
	require.Empty(t, h.server.calls.inFlight)
	require.Empty(t, g.entered)
}

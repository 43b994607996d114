package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACancelFindsItsCallByTheBytesOfTheID(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	ids := []string{`1`, `1.0`, `"1"`}
	for _, id := range ids {
		h.send(ask(id, "wait", `{}`))
		g.await(t)
	}
	for _, id := range []string{`1e0`, `2`, `"\u0031"`, `"1.0"`} {
		h.send(ask(`"cancel"`, "cancel", `{"id":`+id+`}`))
		h.reply().requireResult(t, `false`)
	}
	h.send(ask(`"cancel"`, "cancel", `{"id":1.0}`))
	answers := h.replies(2)
	answers[`"cancel"`].requireResult(t, `true`)
	answers[`1.0`].requireError(t, `1.0`, CodeCancelled, "cancelled")
	close(g.open)
	for id, r := range h.replies(2) {
		require.Contains(t, []string{`1`, `"1"`}, id)
		r.requireResult(t, `"through"`)
	}
}

func TestACancelledCallMayStillGiveItsResult(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.stubborn}}, 0)
	h.send(ask(`1`, "wait", `{}`))
	ctx := g.await(t)
	h.send(ask(`2`, "cancel", `{"id":1}`))
	h.reply().requireResult(t, `true`)
	receive(t, ctx.Done())
	close(g.open)
	h.reply().requireResult(t, `"through"`)
}

func TestACallThatIsAnsweredCannotBeCancelled(t *testing.T) {
	h := start(t, routes{}, 0)
	h.send(ask(`1`, "echo", `{}`))
	h.reply()
	h.send(ask(`2`, "cancel", `{"id":1}`))
	h.reply().requireResult(t, `false`)
}

func TestACancelDoesNotFindItself(t *testing.T) {
	h := start(t, routes{}, 0)
	h.send(ask(`1`, "cancel", `{"id":1}`))
	h.reply().requireResult(t, `false`)
}

func TestACancelLeavesOtherCallsAlone(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	h.send(ask(`1`, "wait", `{}`))
	first := g.await(t)
	h.send(ask(`2`, "wait", `{}`))
	second := g.await(t)
	h.send(ask(`3`, "cancel", `{"id":1}`))
	h.replies(2)
	require.Error(t, first.Err())
	require.NoError(t, second.Err())
	close(g.open)
	h.reply().requireResult(t, `"through"`)
}

// A handler may meet a cancelled context that is not its call's: that is a failure, not the host's cancel.
func TestOnlyTheCallsOwnCancelIsAnsweredAsOne(t *testing.T) {
	other := func(context.Context, json.RawMessage) (any, error) { return nil, fmt.Errorf("x: %w", context.Canceled) }
	h := start(t, routes{"other": {Call: other}}, 0)
	h.send(ask(`1`, "other", `{}`))
	h.requireError(`1`, CodeInternal, "")
}

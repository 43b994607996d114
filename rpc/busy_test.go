package rpc

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneCallMoreThanTheLimitIsBusyAtOnce(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 2)
	h.send(ask(`1`, "wait", `{}`), ask(`2`, "wait", `{}`))
	g.await(t)
	g.await(t)
	for range 3 {
		h.send(ask(`3`, "echo", `{}`))
		h.requireError(`3`, CodeApplication, "sidecar_busy")
	}

	// What takes no slot is served, a wrong line is answered, and a cancel makes room.
	h.send(ask(`4`, "inline echo", `{}`), ask(`5`, "no method", `{}`), `no JSON`, ask(`6`, "cancel", `{"id":9}`))
	h.reply().requireResult(t, `{}`)
	h.requireError(`5`, CodeMethodNotFound, "")
	h.requireError("null", CodeParse, "")
	h.reply().requireResult(t, `false`)
	h.send(ask(`7`, "cancel", `{"id":1}`))
	answers := h.replies(2)
	answers[`7`].requireResult(t, `true`)
	answers[`1`].requireError(t, `1`, CodeCancelled, "cancelled")
	h.send(ask(`3`, "echo", `{}`))
	h.reply().requireResult(t, `{}`)
	close(g.open)
	h.reply().requireResult(t, `"through"`)
}

func TestTheLimitIs64WhereNoneIsGiven(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	for i := range 64 {
		h.send(ask(strconv.Itoa(i), "wait", `{}`))
		g.await(t)
	}
	h.send(ask(`"one more"`, "wait", `{}`))
	h.requireError(`"one more"`, CodeApplication, "sidecar_busy")
	close(g.open)
	for _, r := range h.replies(64) {
		r.requireResult(t, `"through"`)
	}
}

func TestAnAnsweredCallHasLeftItsSlot(t *testing.T) {
	h := start(t, routes{"fail": {Call: func(context.Context, json.RawMessage) (any, error) { panic("no") }}}, 1)
	for range 500 {
		h.send(ask(`1`, "fail", `{}`))
		h.requireError(`1`, CodeInternal, "")
		h.send(ask(`2`, "echo", `{}`))
		h.reply().requireResult(t, `{}`)
	}
}

func TestACallKnowsHowBusyTheServerIs(t *testing.T) {
	g := newGate()
	load := func(ctx context.Context, _ json.RawMessage) (any, error) { return FromContext(ctx).Load(), nil }
	h := start(t, routes{"wait": {Call: g.call}, "load": {Call: load}}, 5)
	h.send(ask(`1`, "wait", `{}`))
	g.await(t)
	h.send(ask(`2`, "echo", `{}`))
	h.reply()
	h.send(ask(`3`, "load", `{}`))
	var got Load
	require.NoError(t, json.Unmarshal(h.reply().Result, &got))
	require.Equal(t, Load{InFlight: 2, Limit: 5, Answered: 1}, got)
	close(g.open)
	h.reply()
}

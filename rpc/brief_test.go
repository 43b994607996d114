package rpc

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestABriefCallTakesASlot(t *testing.T) {
	g := newGate()
	load := func(ctx context.Context, _ json.RawMessage) (any, error) { return FromContext(ctx).Load(), nil }
	h := start(t, routes{"wait": {Call: g.call}, "brief": {Brief: true, Call: load}}, 2)
	h.send(ask(`1`, "wait", `{}`))
	g.await(t)
	for range 3 { // it leaves it too
		h.send(ask(`2`, "brief", `{}`))
		var got Load
		require.NoError(t, json.Unmarshal(h.reply().Result, &got))
		require.Equal(t, 2, got.InFlight)
	}
	h.send(ask(`3`, "wait", `{}`))
	g.await(t)
	h.send(ask(`4`, "brief", `{}`))
	h.requireError(`4`, CodeApplication, "sidecar_busy")
	h.send(ask(`1`, "brief", `{}`))
	h.requireError(`1`, CodeInvalidRequest, "")
	close(g.open)
	h.replies(2)
	h.send(ask(`5`, "brief", `{}`))
	h.reply()
	h.requireNothingElse()
}

func TestABriefCallFailsAlone(t *testing.T) {
	h := start(t, routes{"brief": {Brief: true, Call: func(context.Context, json.RawMessage) (any, error) { panic("no") }}}, 0)
	h.send(ask(`1`, "brief", `{}`), ask(`2`, "echo", `{}`))
	h.requireError(`1`, CodeInternal, "")
	h.reply().requireResult(t, `{}`)
}

func TestABriefCallIsRefusedAtTheEnd(t *testing.T) {
	g := newGate()
	end := func(ctx context.Context, _ json.RawMessage) (any, error) {
		FromContext(ctx).End(0)
		return "ending", nil
	}
	h := start(t, routes{"wait": {Call: g.call}, "end": {Inline: true, Call: end}, "brief": {Brief: true, Call: echo}}, 0)
	h.send(ask(`1`, "wait", `{}`))
	g.await(t)
	h.send(ask(`2`, "end", `{}`), ask(`3`, "brief", `{}`))
	h.reply().requireResult(t, `"ending"`)
	h.requireError(`3`, CodeApplication, "shutting_down")
	close(g.open)
	h.reply().requireResult(t, `"through"`)
	require.Equal(t, 0, h.exit())
}

// Brief calls whose answers find no room wait in their slots, and reading goes on.
func TestReadingGoesOnWhileBriefCallsWaitForRoom(t *testing.T) {
	const calls = 3
	g := newGate()
	h := start(t, routes{
		"wait": {Call: g.call}, "inline big": {Inline: true, Call: big}, "brief": {Brief: true, Call: echo},
	}, calls+1, withSmallQueue)
	h.send(ask(`"wait"`, "wait", `{}`))
	ctx := g.await(t)
	filled := fillOutput(t, h)
	for i := range calls {
		h.send(ask(strconv.Quote("brief"+strconv.Itoa(i)), "brief", `{}`))
	}
	h.send(ask(`"one more"`, "brief", `{}`), ask(`"cancel"`, "cancel", `{"id":"wait"}`))
	receive(t, ctx.Done())
	answers := h.replies(filled + calls + 3)
	require.Len(t, answers, filled+calls+3)
	answers[`"one more"`].requireError(t, `"one more"`, CodeApplication, "sidecar_busy")
	answers[`"brief0"`].requireResult(t, `{}`)
	h.requireNothingElse()
}

// There may be room when a brief call begins and none when it ends.
func TestReadingGoesOnWhenTheRoomIsGoneMeanwhile(t *testing.T) {
	var h *host
	notes := 2*smallQueue/len(more) + 2
	h = start(t, routes{"brief": {Brief: true, Call: func(context.Context, json.RawMessage) (any, error) {
		for range notes {
			if err := h.server.Notify("note", more); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}}}, 0, withSmallQueue)
	h.send(ask(`1`, "brief", `{}`), ask(`2`, "inline echo", `{}`))
	require.Eventually(t, func() bool { // the second was read, though the first cannot be answered
		h.server.calls.mu.Lock()
		defer h.server.calls.mu.Unlock()
		return h.server.calls.answered == 1 && h.server.calls.slots == 1
	}, patience, time.Millisecond)
	for range notes {
		h.line()
	}
	answers := h.replies(2)
	answers[`1`].requireResult(t, `"done"`)
	answers[`2`].requireResult(t, `{}`)
}

package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAStreamFrameHasTheShapeOfTheContract(t *testing.T) {
	h := start(t, routes{"stream": {Call: func(ctx context.Context, _ json.RawMessage) (any, error) {
		for _, data := range []any{map[string]any{"done": 1, "text": "<a&b>"}, nil} {
			if err := FromContext(ctx).Stream("progress", data); err != nil {
				return nil, err
			}
		}
		return true, nil
	}}}, 0)
	for _, id := range []string{`1e2`, `"\u003c"`} { // each request counts from 1
		h.send(ask(id, "stream", `{}`))
		require.Equal(t, `{"jsonrpc":"2.0","method":"stream","params":{"id":`+id+`,"seq":1,"event":"progress","data":{"done":1,"text":"<a&b>"}}}`, h.line())
		require.Equal(t, `{"jsonrpc":"2.0","method":"stream","params":{"id":`+id+`,"seq":2,"event":"progress","data":null}}`, h.line())
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":true}`, h.line())
	}
}

func TestStreamFramesComeInTheOrderOfTheirNumbers(t *testing.T) {
	const calls, workers, each = 4, 8, 100
	h := start(t, routes{"stream": {Call: func(ctx context.Context, _ json.RawMessage) (any, error) {
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for range each {
					_ = FromContext(ctx).Stream("e", 1)
				}
			})
		}
		group.Wait()
		return "done", nil
	}}}, 0, func(s *Server) { s.out.limit = 0 }) // so that frames wait for room and could overtake each other
	for id := range calls {
		h.send(ask(fmt.Sprint(id), "stream", `{}`))
	}
	last := map[int]int{}
	for answered := 0; answered < calls; {
		var frame struct {
			ID     *int
			Params struct{ ID, Seq int }
		}
		require.NoError(t, json.Unmarshal([]byte(h.line()), &frame))
		if frame.ID != nil {
			require.Equal(t, workers*each, last[*frame.ID], "the answer comes after the last frame")
			answered++
			continue
		}
		require.Equal(t, last[frame.Params.ID]+1, frame.Params.Seq)
		last[frame.Params.ID]++
	}
}

func TestANotificationHasTheShapeOfTheContract(t *testing.T) {
	h := start(t, routes{}, 0)
	h.send(ask(`1`, "echo", `{}`)) // so that the server serves
	h.line()
	require.NoError(t, h.server.Notify("cleanup.changed", map[string]any{"profile_home": "/a<b>"}))
	require.Equal(t, `{"jsonrpc":"2.0","method":"cleanup.changed","params":{"profile_home":"/a<b>"}}`, h.line())
}

func TestWhatCannotBeEncodedIsNotSent(t *testing.T) {
	h := start(t, routes{"stream": {Call: func(ctx context.Context, _ json.RawMessage) (any, error) {
		return FromContext(ctx).Stream("e", math.Inf(1)) != nil, FromContext(ctx).Stream("e", 0)
	}}}, 0)
	h.send(ask(`1`, "stream", `{}`))
	require.Equal(t, `{"jsonrpc":"2.0","method":"stream","params":{"id":1,"seq":1,"event":"e","data":0}}`, h.line())
	h.reply().requireResult(t, `true`)
	require.Error(t, h.server.Notify("a.b", math.NaN()))
	h.requireNothingElse()
}

package rpc

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// All that is tested holds for an output that cannot be asked what it takes at once, too.
func TestOverAPlainOutput(t *testing.T) {
	if plainOutput {
		return // this is it
	}
	program, err := os.Executable()
	require.NoError(t, err)
	again := exec.Command(program, "-test.run=^Test", "-test.skip=TheGreatestLength|TooLong", "-test.timeout=200s")
	again.Env = append(os.Environ(), "SIDECAR_TEST_PLAIN_OUTPUT=1")
	said, err := again.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// more is a result that the pipe cannot hold, so that the writer waits for the host.
var more = strings.Repeat("x", 256<<10)

// smallQueue is what few results fill.
const smallQueue = 1 << 20

func withSmallQueue(s *Server) { s.out.limit = smallQueue }

func TestAHostThatDoesNotReadForAWhileLosesNothing(t *testing.T) {
	const calls = 4 * smallQueue / (256 << 10)
	made := make(chan struct{}, calls)
	h := start(t, routes{"big": {Call: func(context.Context, json.RawMessage) (any, error) {
		made <- struct{}{}
		return more, nil
	}}}, calls, withSmallQueue)
	for i := range calls {
		h.send(ask(strconv.Itoa(i), "big", `{}`))
	}
	for range calls {
		receive(t, made)
	}
	for _, r := range h.replies(calls) {
		r.requireResult(t, `"`+more+`"`)
	}
	h.requireNothingElse()
}

// fillOutput makes calls until senders wait for the host to read.
func fillOutput(t *testing.T, h *host) (calls int) {
	t.Helper()
	calls = h.server.out.limit/len(more) + 2
	for i := range calls {
		h.send(ask(strconv.Itoa(i), "inline big", `{}`))
	}
	require.Eventually(t, func() bool {
		h.server.out.mu.Lock()
		defer h.server.out.mu.Unlock()
		return h.server.out.queued > h.server.out.limit
	}, patience, time.Millisecond)
	return calls
}

func big(context.Context, json.RawMessage) (any, error) { return more, nil }

func TestReadingGoesOnWhileTheHostDoesNotRead(t *testing.T) {
	g := newGate()
	h := start(t, routes{"inline big": {Inline: true, Call: big}, "wait": {Call: g.call}}, 0, withSmallQueue)
	h.send(ask(`"wait"`, "wait", `{}`))
	ctx := g.await(t)
	calls := fillOutput(t, h)
	h.send(`no JSON`, ask(`"cancel"`, "cancel", `{"id":"wait"}`))
	receive(t, ctx.Done())
	require.NoError(t, h.in.Close())
	receive(t, h.server.calls.end)
	require.Len(t, h.replies(calls+3), calls+3)
	require.Equal(t, 0, h.exit())
}

// Whoever has something to tell may hold a lock.
func TestANotificationWaitsForNobody(t *testing.T) {
	h := start(t, routes{"inline big": {Inline: true, Call: big}}, 0, withSmallQueue)
	calls := fillOutput(t, h)
	require.NoError(t, h.server.Notify("cleanup.changed", map[string]any{}))
	told := 0
	for range calls + 1 { // the last of the calls may not have been read by then
		if h.line() == `{"jsonrpc":"2.0","method":"cleanup.changed","params":{}}` {
			told++
		}
	}
	require.Equal(t, 1, told)
}

func TestAHostThatReadsLateAtTheEndGetsEverything(t *testing.T) {
	h := start(t, routes{"big": {Call: big}}, 0, func(s *Server) { s.drainFor, s.giveUpIn = patience, time.Millisecond })
	h.send(ask(`1`, "big", `{}`))
	require.NoError(t, h.in.Close())
	require.Eventually(t, func() bool {
		h.server.out.mu.Lock()
		defer h.server.out.mu.Unlock()
		return h.server.out.closed
	}, patience, time.Millisecond)
	select {
	case <-h.exited:
		require.Fail(t, "the server ended with the answer half written")
	case <-time.After(50 * time.Millisecond): // long enough for a server that would not wait
	}
	h.reply().requireResult(t, `"`+more+`"`)
	require.Equal(t, 0, h.exit())
}

func TestOutputThatNobodyReadsDoesNotHoldTheEndUp(t *testing.T) {
	h := start(t, routes{"big": {Call: big}, "inline big": {Inline: true, Call: big}}, 0, withSmallQueue, func(s *Server) {
		s.drainFor, s.giveUpIn = time.Millisecond, time.Millisecond
	})
	fillOutput(t, h)
	h.send(ask(`"waits"`, "big", `{}`)) // its sender waits for room
	require.NoError(t, h.in.Close())
	receive(t, h.exited)
	require.Equal(t, 0, h.code)
}

func TestOutputThatBreaksIsTheEnd(t *testing.T) {
	h := start(t, routes{}, 0)
	h.send(ask(`1`, "echo", `{}`))
	h.line()
	require.NoError(t, h.out.Close())
	h.send(ask(`2`, "echo", `{}`))
	receive(t, h.exited)
	require.Equal(t, 0, h.code)
	require.Contains(t, h.log.String(), "does not read any more")
}

func TestACallInFlightFinishesAfterTheOutputBreaks(t *testing.T) {
	g := newGate()
	finished := make(chan error, 1)
	h := start(t, routes{"wait": {Call: func(ctx context.Context, params json.RawMessage) (any, error) {
		result, err := g.call(ctx, params)
		finished <- err
		return result, err
	}}}, 0)
	h.send(ask(`1`, "wait", `{}`))
	g.await(t)
	require.NoError(t, h.out.Close())
	h.send(ask(`2`, "inline echo", `{}`))
	receive(t, h.server.calls.end)
	close(g.open)
	require.NoError(t, receive(t, finished))
	receive(t, h.exited)
}

// Many large answers that are ready at once, and a host that reads slowly: none goes on before there is room for it, so the
// host never counts as gone.
func TestLargeAnswersAtOnceWaitTheirTurn(t *testing.T) {
	const calls = 64
	g := newGate()
	h := start(t, routes{"big": {Call: func(ctx context.Context, params json.RawMessage) (any, error) {
		if _, err := g.call(ctx, params); err != nil {
			return nil, err
		}
		return more, nil
	}}}, calls, withSmallQueue, func(s *Server) { s.out.giveUpAt = 2 * smallQueue })
	for i := range calls {
		h.send(ask(strconv.Itoa(i), "big", `{}`))
	}
	for range calls {
		g.await(t)
	}
	close(g.open)
	for _, r := range h.replies(calls) {
		r.requireResult(t, `"`+more+`"`)
	}
	h.requireNothingElse()
}

// Of several that wait for room, the first to get it takes it: the others see it taken before its frame is queued.
func TestRoomIsTakenByWhoGetsIt(t *testing.T) {
	w := newWriter(func(error) {})
	w.limit = 10
	frame := []byte("a frame that is longer than the limit")
	w.sendNow(frame)
	passed := make(chan struct{}, 8)
	for range cap(passed) {
		go func() {
			w.reserve(frame)
			passed <- struct{}{}
		}()
	}
	queued := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.queued
	}
	for range cap(passed) {
		_, ok := w.take() // the host reads one
		require.True(t, ok)
		receive(t, passed)
		require.Greater(t, queued(), w.limit, "the next one has to wait")
		w.sendReserved(frame)
		require.Equal(t, len(frame)+1, queued())
	}
	require.Empty(t, passed)
}

// narrow is an output that takes at once what it has room for.
type narrow struct {
	room int
	got  string
}

func (n *narrow) Write([]byte) (int, error) { panic("only run writes what waits") }

func (n *narrow) WriteNow(line []byte) (int, error) {
	taken := min(n.room, len(line))
	n.room -= taken
	n.got += string(line[:taken])
	return taken, nil
}

func TestNothingOvertakesWhatIsLeftOfALine(t *testing.T) {
	w, out := newWriter(func(error) {}), &narrow{room: 4 + 5}
	w.use(out)
	w.sendNow([]byte("one"))
	require.Zero(t, w.queued)
	w.sendNow([]byte("a long line"))
	require.Equal(t, "one\na lon", out.got)
	out.room = 1000
	w.sendNow([]byte("two")) // run has not begun on the rest yet
	for _, want := range []string{"g line\n", "two\n", "three\n"} {
		frame, ok := w.take()
		require.True(t, ok)
		require.Equal(t, want, string(frame))
		if want == "two\n" {
			w.sendNow([]byte("three")) // run writes that, and nothing else waits
		}
	}
	require.Equal(t, "one\na lon", out.got)
	require.Zero(t, w.queued)
	w.close()
	_, ok := w.take()
	require.False(t, ok)
}

func TestALineThatGoesOutAtOnceMakesRoom(t *testing.T) {
	for range 200 {
		w := newWriter(func(error) {})
		w.limit = 10
		w.use(&narrow{room: 1000})
		frame := []byte("a frame that is longer than the limit")
		w.reserve(frame)
		require.False(t, w.tryReserve(frame))
		began, passed := make(chan struct{}), make(chan struct{})
		go func() {
			close(began)
			w.reserve(frame)
			close(passed)
		}()
		<-began
		w.sendReserved(frame)
		receive(t, passed)
	}
}

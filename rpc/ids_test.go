package rpc

import (
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIDComesBackByteForByte(t *testing.T) {
	h := start(t, routes{}, 0)
	for _, id := range []string{
		`9007199254740993`, `0`, `"0"`, `1e2`, `1E+2`, `-0`, `1.50`, `-1`, `1e400`, `123456789012345678901234567890`,
		`""`, `"a\u0062\n\/\"\\"`, `"<>&"`, `"\u003c"`, "\"\u2028\u2029\"", `"\u2028"`, `"ü 漢 🙂"`, `"\ud83d\ude42"`, `"null"`,
	} {
		t.Run(id, func(t *testing.T) {
			h.t = t
			for _, method := range []string{"echo", "inline echo"} {
				h.send(`{ "jsonrpc":"2.0" , "id" : ` + id + ` , "method":"` + method + `","params":{}}`)
				require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, h.line())
			}
			h.send(ask(id, "no method", `{}`))
			h.requireError(id, CodeMethodNotFound, "")
		})
	}
}

func TestAnIDIsANumberOrAString(t *testing.T) {
	h := start(t, routes{}, 0)
	for _, id := range []string{`null`, `true`, `false`, `{}`, `[]`, `[1]`, `{"id":1}`} {
		h.send(ask(id, "echo", `{}`))
		h.requireError("null", CodeInvalidRequest, "")
	}
	h.requireNothingElse()
}

func TestIDsInFlightAreComparedByTheirBytes(t *testing.T) {
	g := newGate()
	h := start(t, routes{"wait": {Call: g.call}}, 0)
	ids := []string{`1`, `1.0`, `1e0`, `"1"`, `"\u0031"`}
	for _, id := range ids {
		h.send(ask(id, "wait", `{}`))
		g.await(t)
	}
	for _, id := range ids {
		for _, method := range []string{"wait", "inline echo", "no method"} {
			h.send(ask(id, method, `{}`))
			h.requireError(id, CodeInvalidRequest, "")
		}
	}
	require.Empty(t, g.entered, "a request with an id that is in flight ran")
	close(g.open)
	for id, r := range h.replies(len(ids)) {
		require.Contains(t, ids, id)
		r.requireResult(t, `"through"`)
	}
}

func TestAnIDMayBeUsedAgainOnceItIsAnswered(t *testing.T) {
	h := start(t, routes{}, 1)
	for range 1000 {
		h.send(ask(`7`, "echo", `{}`))
		h.reply().requireResult(t, `{}`)
	}
}

// A call whose answer waits for room keeps its slot, or a host that does not read could start calls without end. Once the
// answer can be read, both the id and the slot are free.
func TestACallKeepsItsSlotUntilThereIsRoom(t *testing.T) {
	h := start(t, routes{"inline big": {Inline: true, Call: big}, "big": {Call: big}}, 1, withSmallQueue)
	calls := fillOutput(t, h)
	h.send(ask(`"waits"`, "big", `{}`)) // its answer waits for room
	h.send(ask(`"refused"`, "big", `{}`))
	replies := h.replies(calls + 2)
	require.Equal(t, ConditionBusy, replies[`"refused"`].Error.Data.Condition)
	h.send(ask(`"waits"`, "big", `{}`))
	require.Nil(t, h.reply().Error)
}

// A host that sends and never reads counts as gone before it can fill the memory.
func TestAHostThatNeverReadsCountsAsGone(t *testing.T) {
	h := start(t, routes{"inline big": {Inline: true, Call: big}}, 1, withSmallQueue, func(s *Server) {
		s.out.giveUpAt = 2 * smallQueue
	})
	go func() {
		for i := 0; ; i++ {
			if _, err := io.WriteString(h.in, ask(strconv.Itoa(i), "inline big", `{}`)+"\n"); err != nil {
				return // nobody reads any more, and the test has closed it
			}
		}
	}()
	<-h.server.calls.end
	require.NoError(t, h.in.Close())
	_, err := io.Copy(io.Discard, h.lines) // what had gone out already
	require.NoError(t, err)
	<-h.exited
}

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestTwoRequestsThenTheEndOfInput(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Send(ask(`1`, "rpc.methods", `{}`) + "\n" + ask(`"2"`, "rpc.methods", `{}`) + "\n")
	p.CloseStdin()
	answered := map[string]bool{}
	for range 2 {
		reply := p.Reply()
		require.Nil(t, reply.Error)
		require.Contains(t, string(reply.Result), `"state_db.delete_cli_session"`)
		answered[string(reply.ID)] = true
	}
	require.Equal(t, map[string]bool{`1`: true, `"2"`: true}, answered)
	require.Equal(t, 0, p.Wait())
	_, more := p.TryLine(0)
	require.False(t, more, "standard output holds more than the answers")
}

// Two seconds are what an idle sidecar may take to end.
func TestTheEndOfInputEndsAnIdleSidecar(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	begun := time.Now()
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
	require.Less(t, time.Since(begun), 2*time.Second)
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	long := strconv.Quote(strings.Repeat("x", 1<<20))
	p.Send(ask(long, "rpc.cancel", `{"id":`+long+`}`) + "\n")
	reply := p.Reply()
	require.Equal(t, long, string(reply.ID))
	require.JSONEq(t, `{"cancelled":false,"reason":"not_active"}`, string(reply.Result))

	p.Send(ask(`1`, "rpc.cancel", `{"id":"`+strings.Repeat("x", 9<<20)+`"}`) + "\n" + ask(`2`, "rpc.methods", `{}`) + "\n")
	requireError(t, p.Reply(), "null", -32700, "")
	reply = p.Reply()
	require.Equal(t, `2`, string(reply.ID))
	require.Nil(t, reply.Error)
}

func TestACharacterThatComesInTwoWrites(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	text := ask(`1`, "rpc.methods", `{}`) + "\n" + ask(`"ä漢🙂"`, "rpc.methods", `{}`) + "\n"
	for _, character := range []string{"ä", "漢", "🙂"} {
		// The answer to the first request shows that the half character was read with it.
		cut := strings.Index(text, character) + 1
		p.Send(text[:cut])
		require.Equal(t, `1`, string(p.Reply().ID))
		p.Send(text[cut:])
		require.Equal(t, `"ä漢🙂"`, string(p.Reply().ID))
	}
}

// The process must not stop where its log has no room, and must say nothing of it on standard output.
func TestALogThatNobodyReadsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	unread, log, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = unread.Close() }()
	p := sidecartest.Start(t, sidecartest.Plain, func(cmd *exec.Cmd) { cmd.Stderr = log })
	require.NoError(t, log.Close())
	p.Handshake()
	home := sidecartest.NewHome(t)
	const deletes = 3000 // more lines than the pipe and the queue before it hold together
	for range deletes {
		require.Equal(t, "store_missing", p.Delete(home, "s1").Reason)
	}
	p.Send(ask(`1`, "rpc.methods", `{}`) + "\n")
	require.Equal(t, `1`, string(p.Reply().ID))
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
	logged, err := io.ReadAll(unread)
	require.NoError(t, err)
	lines := strings.Count(string(logged), "\n")
	require.Greater(t, lines, 10)
	require.Less(t, lines, deletes/2, "the log was read after all")
}

func TestTheLogIsJSONOnStandardError(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Env("SIDECAR_LOG_LEVEL="))
	p.Handshake()
	home := sidecartest.NewHome(t)
	p.Delete(home, "s1")
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
	lines := strings.Split(strings.TrimSpace(p.Stderr()), "\n")
	require.Len(t, lines, 3)
	for i, message := range []string{"serving", "delete", "ended"} {
		var entry struct{ Msg string }
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &entry))
		require.Equal(t, message, entry.Msg)
	}
}

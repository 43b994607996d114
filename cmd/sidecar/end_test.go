package main

import (
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestAShutdownGivesTheExitStatus(t *testing.T) {
	t.Parallel()
	for params, code := range map[string]int{`{"exit_code":7}`: 7, `{"exit_code":0}`: 0, `{"exit_code":255}`: 255, `{}`: 0} {
		p := sidecartest.Start(t, sidecartest.Plain)
		p.Send(ask(`1`, "runtime.shutdown", params) + "\n")
		reply := p.Reply()
		require.Nil(t, reply.Error)
		require.JSONEq(t, `{"ok":true}`, string(reply.Result))
		require.Equal(t, code, p.Wait())
	}
}

func TestAShutdownThatIsWrongEndsNothing(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	for _, params := range []string{`{"exit_code":-1}`, `{"exit_code":256}`, `{"exit_code":"7"}`, `{"exit_code":1.5}`, `{"exit_code":null}`, `{"code":7}`} {
		p.Send(ask(`1`, "runtime.shutdown", params) + "\n")
		requireError(t, p.Reply(), `1`, -32602, "")
	}
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
}

func TestADeleteInFlightFinishesAfterTheEndOfInput(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	free := holdLock(t, home)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Send(handshake + "\n" + deletion(t, `1`, home, "s1") + "\n")
	p.Reply()
	p.CloseStdin()
	free()
	reply := p.Reply()
	require.Nil(t, reply.Error)
	require.Contains(t, string(reply.Result), `"ok":true`)
	require.Equal(t, 0, p.Wait())
	require.Empty(t, home.Query(`SELECT id FROM sessions`))
}

func TestADeleteThatWaitsTooLongAtTheEndIsCancelled(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	holdLock(t, home)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Send(handshake + "\n" + deletion(t, `1`, home, "s1") + "\n")
	p.Reply()
	p.CloseStdin()
	requireError(t, p.Reply(), `1`, -32001, "cancelled")
	require.Equal(t, 0, p.Wait())
	require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
}

func TestAHostThatStopsReadingIsGone(t *testing.T) {
	t.Parallel()
	c := launch(t)
	c.send(handshake)
	c.reply()
	require.NoError(t, c.out.Close())
	c.send(ask(`1`, "rpc.methods", `{}`))
	require.Equal(t, 0, c.wait())
	require.Contains(t, c.logged(), "does not read any more")
}

func TestAnswersThatNobodyReadsDoNotHoldTheEndUp(t *testing.T) {
	t.Parallel()
	c := launch(t)
	for i := range 50 { // far more than a pipe holds
		c.send(ask(strconv.Itoa(i), "rpc.discover", `{}`))
	}
	require.NoError(t, c.in.Close())
	require.Equal(t, 0, c.wait())
}

func TestALogThatIsClosedEndsNothing(t *testing.T) {
	t.Parallel()
	unread, log, err := os.Pipe()
	require.NoError(t, err)
	p := sidecartest.Start(t, sidecartest.Plain, func(cmd *exec.Cmd) { cmd.Stderr = log })
	require.NoError(t, log.Close())
	require.NoError(t, unread.Close())
	p.Handshake()
	home := sidecartest.NewHome(t)
	for range 20 {
		require.Equal(t, "store_missing", p.Delete(home, "s1").Reason)
	}
	p.CloseStdin()
	require.Equal(t, 0, p.Wait())
}

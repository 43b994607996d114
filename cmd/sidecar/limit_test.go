package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestCallsOneMoreThanTheEnvironmentAllows(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	holdLock(t, home)
	p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Env("SIDECAR_MAX_CALLS=1"))
	p.Handshake()
	p.Send(deletion(t, `1`, home, "s1") + "\n" + ask(`2`, "rpc.methods", `{}`) + "\n")
	requireError(t, p.Reply(), `2`, -32000, "sidecar_busy")
	p.Send(ask(`1`, "rpc.methods", `{}`) + "\n")
	requireError(t, p.Reply(), `1`, -32600, "")
	p.Send(ask(`3`, "rpc.cancel", `{"id":1}`) + "\n")
	answers := map[string]sidecartest.Reply{}
	for range 2 {
		reply := p.Reply()
		answers[string(reply.ID)] = reply
	}
	require.JSONEq(t, `{"cancelled":true}`, string(answers[`3`].Result))
	requireError(t, answers[`1`], `1`, -32001, "cancelled")
	p.Send(ask(`1`, "rpc.methods", `{}`) + "\n")
	require.Nil(t, p.Reply().Error)
	require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
}

func TestALimitThatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"0", "-1", "many", "1.5", " 5", "99999999999999999999"} {
		p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Env("SIDECAR_MAX_CALLS="+value))
		require.Equal(t, 2, p.Wait(), value)
		require.Regexp(t, `^sidecar: SIDECAR_MAX_CALLS must be a whole number from 1, not .*\n$`, p.Stderr())
		_, wrote := p.TryLine(0)
		require.False(t, wrote, fmt.Sprint("standard output for ", value))
	}
}

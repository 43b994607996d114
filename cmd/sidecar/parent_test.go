package main

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// underHost starts a sidecar under another process, whose pipes this test keeps open.
func underHost(t *testing.T, change ...func(*exec.Cmd)) *child {
	t.Helper()
	program := sidecartest.Binary(t, sidecartest.Plain)
	self, err := os.Executable()
	require.NoError(t, err)
	return launch(t, append([]func(*exec.Cmd){func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = self, []string{self}
		cmd.Env = append(cmd.Env, spawnVariable+"="+program)
	}}, change...)...)
}

// outlivedFor is how long a sidecar may outlive its host (contract 1.8).
const outlivedFor = 7 * time.Second

// endHost kills the host and requires that the sidecar is gone in time: its end of the pipe is closed. It tells when the host
// ended.
func (c *child) endHost(during func()) (begun time.Time) {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	begun = time.Now()
	during()
	_ = c.out.SetReadDeadline(begun.Add(outlivedFor))
	rest, err := io.ReadAll(c.lines)
	require.NoError(c.t, err, "the sidecar outlives its host; log: %s", c.logged())
	require.Empty(c.t, string(rest))
	require.Less(c.t, time.Since(begun), outlivedFor)
	return begun
}

func TestNoSidecarOutlivesItsHost(t *testing.T) {
	t.Parallel()
	c := underHost(t)
	c.send(handshake)
	c.reply()
	c.endHost(func() {})
	require.Contains(t, c.logged(), "is gone")
}

func TestNoSidecarOutlivesItsHostWithACallInFlight(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	holdLock(t, home)
	c := underHost(t)
	c.send(handshake)
	c.reply()
	c.send(deletion(t, `1`, home, "s1"))
	awaitInFlight(t, 2, func() sidecartest.Reply {
		c.send(ask(`2`, "runtime.status", `{}`))
		return c.reply()
	})
	c.endHost(func() { requireError(t, c.reply(), `1`, -32001, "cancelled") })
	require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
}

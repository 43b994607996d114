//go:build unix

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestASignalEndsTheSidecarInOrder(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := sidecartest.Start(t, sidecartest.Plain)
		p.Handshake()
		require.NoError(t, p.Cmd.Process.Signal(signal))
		require.Equal(t, 0, p.Wait(), signal)

		// A call in flight is answered first.
		home := storeWith(t, fixtures.LegacySchema)
		free := holdLock(t, home)
		p = sidecartest.Start(t, sidecartest.Plain)
		p.Handshake()
		p.Send(deletion(t, `1`, home, "s1") + "\n")
		awaitInFlight(t, 2, func() sidecartest.Reply {
			p.Send(ask(`2`, "runtime.status", `{}`) + "\n")
			return p.Reply()
		})
		require.NoError(t, p.Cmd.Process.Signal(signal))
		free()
		require.Contains(t, string(p.Reply().Result), `"ok":true`)
		require.Equal(t, 0, p.Wait(), signal)
	}
}

//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"session-sidecar/internal/sidecartest"
)

// Some hosts give their children sockets for pipes. One that reads late loses nothing, and finds everything in order.
func TestServesOverSockets(t *testing.T) {
	const calls = 3000 // more than a socket holds
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	host, ours := os.NewFile(uintptr(fds[0]), "host"), os.NewFile(uintptr(fds[1]), "sidecar")
	defer func() { _ = host.Close() }()
	for _, fd := range fds {
		unix.CloseOnExec(fd) // or the sidecar would hold its host's end
	}
	sidecar := exec.Command(sidecartest.Binary(t, sidecartest.Plain))
	sidecar.Stdin, sidecar.Stdout = ours, ours
	require.NoError(t, sidecar.Start())
	ended := make(chan error, 1)
	go func() { ended <- sidecar.Wait() }()
	defer func() { _ = sidecar.Process.Kill() }()
	require.NoError(t, ours.Close())
	var requests strings.Builder
	for id := range calls {
		fmt.Fprintf(&requests, `{"jsonrpc":"2.0","id":%d,"method":"rpc.methods"}`+"\n", id)
	}
	_, err = host.WriteString(requests.String())
	require.NoError(t, err)
	require.NoError(t, unix.Shutdown(fds[0], unix.SHUT_WR))
	answers := bufio.NewReader(host)
	for id := range calls {
		line, err := answers.ReadBytes('\n')
		require.NoError(t, err)
		var answer struct {
			ID     json.Number
			Result struct{ Methods []string }
		}
		require.NoError(t, json.Unmarshal(line, &answer))
		require.Equal(t, strconv.Itoa(id), answer.ID.String())
		require.Contains(t, answer.Result.Methods, "runtime.status")
	}
	require.NoError(t, <-ended)
}

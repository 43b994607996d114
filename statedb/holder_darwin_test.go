package statedb

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHolderDeadOnMacOS(t *testing.T) {
	assert.False(t, holderDead(fmt.Sprintf("cli:pid=%d", os.Getpid())), "we live")
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	holder := fmt.Sprintf("cli:pid=%d:0a1b", cmd.Process.Pid)
	assert.False(t, holderDead(holder))
	assert.False(t, holderDead(holder+":pidns=4026531836"), "a namespace means nothing here")
	require.NoError(t, stdin.Close())
	require.NoError(t, cmd.Wait())
	assert.True(t, holderDead(holder))

	// The first process is not ours to signal, unless we are root, and lives.
	if os.Getuid() != 0 {
		require.ErrorIs(t, syscall.Kill(1, 0), syscall.EPERM)
	}
	assert.False(t, holderDead("pid=1"))

	for name, holder := range map[string]string{
		"two processes":      holder + ":pid=1",
		"a negative process": "pid=-1",
		"no process":         "cli",
		"nothing":            "",
	} {
		assert.False(t, holderDead(holder), name)
	}
}

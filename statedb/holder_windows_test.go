package statedb

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waitingForInput is a process that lives until its standard input ends.
func waitingForInput(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("cmd", "/c", "set", "/p", "line=")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return cmd
}

func TestHolderDeadOnWindows(t *testing.T) {
	assert.False(t, holderDead(fmt.Sprintf("cli:pid=%d", os.Getpid())), "we live")
	cmd := waitingForInput(t)
	holder := fmt.Sprintf("cli:pid=%d:0a1b", cmd.Process.Pid)
	assert.False(t, holderDead(holder))
	// The process that ended is still known while somebody has a handle of it, as we have.
	require.NoError(t, cmd.Process.Kill())
	require.Eventually(t, func() bool { return holderDead(holder) }, 30*time.Second, time.Millisecond)
	_ = cmd.Wait()
	assert.True(t, holderDead(holder))

	for name, holder := range map[string]string{
		"two processes":      holder + ":pid=1",
		"a negative process": "pid=-1",
		"no process":         "cli",
		"nothing":            "",
	} {
		assert.False(t, holderDead(holder), name)
	}
}

package statedb

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// running starts a process that lives until the test ends.
func running(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// finished is a process that has lived.
func finished(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	return cmd.Process.Pid
}

// stamped is a holder of our own PID namespace.
func stamped(t *testing.T, pid int) string {
	t.Helper()
	link, err := os.Readlink("/proc/self/ns/pid")
	require.NoError(t, err)
	inode := strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	return fmt.Sprintf("cli:pid=%d:pidns=%s:0a1b", pid, inode)
}

func TestHolderDead(t *testing.T) {
	dead := finished(t)
	assert.True(t, holderDead(stamped(t, dead)))
	assert.False(t, holderDead(stamped(t, running(t))))
	assert.False(t, holderDead(stamped(t, os.Getpid())), "we live")
	for name, holder := range map[string]string{
		"unstamped":          fmt.Sprintf("pid=%d", dead),
		"an empty stamp":     fmt.Sprintf("pid=%d:pidns=", dead),
		"another namespace":  fmt.Sprintf("pid=%d:pidns=1", dead),
		"a stamp in words":   fmt.Sprintf("pid=%d:pidns=host", dead),
		"two processes":      stamped(t, dead) + fmt.Sprintf(":pid=%d", dead),
		"no process":         strings.Replace(stamped(t, dead), "pid=", "id=", 1),
		"a negative process": strings.Replace(stamped(t, dead), "pid=", "pid=-", 1),
		"nothing":            "",
	} {
		assert.False(t, holderDead(holder), name)
	}
}

// A process that has ended and was not waited for still exists.
func TestAZombieIsNotDead(t *testing.T) {
	cmd := exec.Command("true")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		return err == nil && strings.Contains(string(stat), ") Z ")
	}, 30*time.Second, time.Millisecond)
	assert.False(t, holderDead(stamped(t, cmd.Process.Pid)))
	require.NoError(t, cmd.Wait())
	assert.True(t, holderDead(stamped(t, cmd.Process.Pid)))
}

// Not being allowed to signal a process means that it lives.
func TestAProcessOfAnotherUserLives(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	require.ErrorIs(t, syscall.Kill(1, 0), syscall.EPERM)
	assert.False(t, holderDead(stamped(t, 1)))
}

func TestDeadHoldersGuardNothing(t *testing.T) {
	home := threeSegments(t)
	home.Exec(lock("c", stamped(t, finished(t)), future), lease("a", stamped(t, finished(t)), future))
	tx := begin(t, home)
	_, err := remove(t, tx, "c")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Empty(t, home.Query("SELECT * FROM compression_locks"))
	assert.Empty(t, home.Query("SELECT * FROM session_turn_leases"))

	home = threeSegments(t)
	home.Exec(lease("a", stamped(t, running(t)), future))
	_, err = begin(t, home).Plan(t.Context(), Request{SessionID: "c"})
	require.ErrorIs(t, err, ErrActiveTurn)
}

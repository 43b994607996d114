package sidecartest

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// HoldFileLock lets flock(1) take the home's cleanup lock, and waits until it has it.
func HoldFileLock(t testing.TB, path string) *Holder {
	t.Helper()
	// exec keeps the lock's descriptor in the very process that we end.
	return startHolder(t, exec.Command("flock", path, "sh", "-c", "echo "+held+"; exec cat >/dev/null"))
}

// OtherProgramGets asks flock(1) for a lock without waiting.
func OtherProgramGets(t testing.TB, path string) bool {
	t.Helper()
	err := exec.Command("flock", "--nonblock", "--conflict-exit-code", "99", path, "true").Run()
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() == 99 {
		return false
	}
	require.NoError(t, err)
	return true
}

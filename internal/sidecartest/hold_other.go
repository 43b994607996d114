//go:build !linux

package sidecartest

import (
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

// HoldFileLock takes the home's cleanup lock as another process would: such a lock belongs to the handle that was opened, and this
// one is not the sidecar's. Neither macOS nor Windows has flock(1).
func HoldFileLock(t testing.TB, path string) *Holder {
	t.Helper()
	lock := flock.New(path)
	taken, err := lock.TryLock()
	require.NoError(t, err)
	require.True(t, taken)
	h := &Holder{func() { _ = lock.Close() }}
	t.Cleanup(h.Release)
	return h
}

// OtherProgramGets asks for a lock over a handle of its own without waiting.
func OtherProgramGets(t testing.TB, path string) bool {
	t.Helper()
	lock := flock.New(path)
	taken, err := lock.TryLock()
	require.NoError(t, err)
	require.NoError(t, lock.Close())
	return taken
}

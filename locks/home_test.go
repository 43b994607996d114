package locks

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTryLockDoesNotWait(t *testing.T) {
	home := t.TempDir()
	var homes Homes

	unlock, err := homes.TryLock(t.Context(), home)
	require.NoError(t, err)
	_, err = homes.TryLock(t.Context(), home)
	require.ErrorIs(t, err, ErrHeld, "another call of this process")
	unlock()

	other := flock.New(filepath.Join(home, FileName))
	locked, err := other.TryLock()
	require.NoError(t, err)
	require.True(t, locked)
	begun := time.Now()
	_, err = homes.TryLock(t.Context(), home)
	require.ErrorIs(t, err, ErrHeld, "another process")
	assert.Less(t, time.Since(begun), time.Second)
	require.NoError(t, other.Close())

	unlock, err = homes.TryLock(t.Context(), home)
	require.NoError(t, err, "a refusal keeps nothing")
	unlock()
	assert.Empty(t, homes.threads)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = homes.TryLock(cancelled, home)
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, homes.threads)

	require.NoError(t, os.Remove(filepath.Join(home, FileName)))
	require.NoError(t, os.Mkdir(filepath.Join(home, FileName), 0o700))
	_, err = homes.TryLock(t.Context(), home)
	require.ErrorIs(t, err, ErrUnusable)
}

package locks

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestOneHolderAtATime(t *testing.T) {
	home := newHome(t)
	var h Homes
	var inside atomic.Int32
	var work int // the race detector sees two holders at once here
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				unlock, err := h.Lock(t.Context(), home)
				if !assert.NoError(t, err) {
					return
				}
				assert.EqualValues(t, 1, inside.Add(1))
				work++
				inside.Add(-1)
				unlock()
			}
		})
	}
	group.Wait()
	assert.Equal(t, 200, work)
	assert.Zero(t, h.remembered(), "a home that nobody uses takes no memory")
}

// Between the calls of one process the wait has no patience of its own: only the file lock's runs out.
func TestThreadLockWaitsBeyondTheFilesPatience(t *testing.T) {
	home := newHome(t)
	h := Homes{FilePatience: time.Nanosecond}
	unlock := lockNow(t, &h, home)
	waiting := lockLater(t.Context(), &h, home)
	requireUsers(t, &h, home, 2)
	assert.Empty(t, waiting)
	unlock()
	second := end(t, waiting)
	require.NoError(t, second.err)
	second.unlock()
	assert.Zero(t, h.remembered())
}

// Two Homes are as two processes: only the file keeps them apart.
func TestFileLockExcludesAlone(t *testing.T) {
	home := newHome(t)
	var first Homes
	second := Homes{FilePatience: time.Millisecond}
	unlock := lockNow(t, &first, home)
	_, err := second.Lock(t.Context(), home)
	require.ErrorIs(t, err, ErrTimeout)
	unlock()
	lockNow(t, &second, home)()
}

func TestHomesNeverWaitForEachOther(t *testing.T) {
	other, busyByThread, busyByProcess := newHome(t), newHome(t), newHome(t)
	var h Homes
	defer lockNow(t, &h, busyByThread)()
	sidecartest.HoldFileLock(t, busyByProcess+"/"+FileName)

	ctx, cancel := context.WithCancel(t.Context())
	behindThread := lockLater(ctx, &h, busyByThread)
	behindProcess := lockLater(ctx, &h, busyByProcess)
	requireUsers(t, &h, busyByThread, 2)
	requireUsers(t, &h, busyByProcess, 1)

	lockNow(t, &h, other)()

	assert.Empty(t, behindThread)
	assert.Empty(t, behindProcess)
	cancel()
	require.ErrorIs(t, end(t, behindThread).err, context.Canceled)
	require.ErrorIs(t, end(t, behindProcess).err, context.Canceled)
	assert.Equal(t, 1, h.remembered())
}

// The lock of another program, taken with flock(1) where there is one, keeps us out, and ours keeps it out.
func TestOtherProgramsTakeTheSameLock(t *testing.T) {
	home := newHome(t)
	path := home + "/" + FileName
	h := Homes{FilePatience: time.Millisecond}

	holder := sidecartest.HoldFileLock(t, path)
	_, err := h.Lock(t.Context(), home)
	require.ErrorIs(t, err, ErrTimeout)
	holder.Release()

	unlock := lockNow(t, &h, home)
	assert.False(t, sidecartest.OtherProgramGets(t, path), "we hold it")
	unlock()
	assert.True(t, sidecartest.OtherProgramGets(t, path), "we let go of it")
}

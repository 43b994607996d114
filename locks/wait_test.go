package locks

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestCancelEndsTheWaitForAThread(t *testing.T) {
	home := newHome(t)
	var h Homes
	unlock := lockNow(t, &h, home)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := lockLater(ctx, &h, home)
	requireUsers(t, &h, home, 2)
	cancel()
	a := end(t, waiting)
	require.ErrorIs(t, a.err, context.Canceled)
	assert.Nil(t, a.unlock)
	assert.Equal(t, 1, h.usersOf(home), "the holder alone")
	unlock()
	assert.Zero(t, h.remembered())
	lockNow(t, &h, home)()
}

func TestCancelEndsTheWaitForAProcess(t *testing.T) {
	home := newHome(t)
	holder := sidecartest.HoldFileLock(t, home+"/"+FileName)
	h := Homes{FilePatience: time.Hour}
	inner, cancel := context.WithCancel(t.Context())
	ctx := &sidecartest.AskedContext{Context: inner}
	waiting := lockLater(ctx, &h, home)
	ctx.RequireWaiting(t)
	cancel()
	a := end(t, waiting)
	require.ErrorIs(t, a.err, context.Canceled)
	assert.Nil(t, a.unlock)
	assert.Zero(t, h.remembered(), "the thread lock is free again")
	holder.Release()
	lockNow(t, &h, home)()
}

func TestDeadlineEndsTheWaitWithTheContextsError(t *testing.T) {
	home := newHome(t)
	sidecartest.HoldFileLock(t, home+"/"+FileName)
	h := Homes{FilePatience: time.Hour}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := h.Lock(ctx, home)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, ErrTimeout)
}

func TestAlreadyCancelledTakesNothing(t *testing.T) {
	home := newHome(t)
	var h Homes
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a free lock and a cancel are both at hand: whichever is picked, the cancel counts
		_, err := h.Lock(ctx, home)
		require.ErrorIs(t, err, context.Canceled)
	}
	assert.Zero(t, h.remembered())
	assert.NoFileExists(t, home+"/"+FileName)
}

func TestPatienceRunsOut(t *testing.T) {
	home := newHome(t)
	path := filepath.Join(home, FileName)
	holder := sidecartest.HoldFileLock(t, path)
	h := Homes{FilePatience: 20 * time.Millisecond}
	_, err := h.Lock(t.Context(), home)
	require.ErrorIs(t, err, ErrTimeout)
	require.NotErrorIs(t, err, ErrUnusable)
	var failure *Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, &Error{Kind: ErrTimeout, Path: path}, failure)
	assert.Equal(t, ErrTimeout.Error()+": "+path, failure.Error())
	assert.Equal(t, []error{ErrTimeout}, failure.Unwrap(), "no empty link in the chain")
	assert.Zero(t, h.remembered(), "the thread lock is free again")
	holder.Release()
	lockNow(t, &h, home)()
}

// The lock is tried again until the holder goes, and not only once.
func TestAHolderThatGoesMakesWay(t *testing.T) {
	home := newHome(t)
	holder := sidecartest.HoldFileLock(t, home+"/"+FileName)
	var h Homes // the patience of contract 7
	ctx := &sidecartest.AskedContext{Context: t.Context()}
	waiting := lockLater(ctx, &h, home)
	ctx.RequireWaiting(t)
	assert.Empty(t, waiting)
	holder.Release()
	a := end(t, waiting)
	require.NoError(t, a.err)
	a.unlock()
	assert.Equal(t, 30*time.Second, Patience)
}

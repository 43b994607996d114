package statedb

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

type begun struct {
	tx  *Tx
	err error
}

func beginLater(ctx context.Context, home *sidecartest.Home, patience time.Duration) <-chan begun {
	done := make(chan begun, 1)
	go func() {
		tx, err := Begin(ctx, home.Store(), patience)
		done <- begun{tx, err}
	}()
	return done
}

func ending(t *testing.T, done <-chan begun) begun {
	t.Helper()
	select {
	case b := <-done:
		return b
	case <-time.After(time.Minute):
		require.Fail(t, "the wait for the write lock does not end")
		return begun{}
	}
}

func TestBusyAfterThePatience(t *testing.T) {
	home := newStore(t)
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	tx, err := Begin(t.Context(), home.Store(), soon)
	require.ErrorIs(t, err, ErrBusy)
	assert.Nil(t, tx)
	assert.Equal(t, 20*time.Second, Patience)
	holder.Release()
	require.NoError(t, begin(t, home).Rollback())
}

// Another connection of this very process holds the lock as well as another process does.
func TestBusyWithinTheProcess(t *testing.T) {
	home := newStore(t)
	tx := begin(t, home)
	_, err := Begin(t.Context(), home.Store(), 0)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, tx.Rollback())
	require.NoError(t, begin(t, home).Rollback())
}

func TestBeginTakesItsTurn(t *testing.T) {
	home := newStore(t)
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	ctx := &sidecartest.AskedContext{Context: t.Context()}
	waiting := beginLater(ctx, home, Patience)
	ctx.RequireWaiting(t)
	assert.Empty(t, waiting)
	holder.Release()
	b := ending(t, waiting)
	require.NoError(t, b.err)
	require.NoError(t, b.tx.Rollback())
	requireFree(t, home)
}

func TestCancelEndsTheWaitForTheWriteLock(t *testing.T) {
	home := newStore(t)
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	for range 10 {
		inner, cancel := context.WithCancel(t.Context())
		ctx := &sidecartest.AskedContext{Context: inner}
		waiting := beginLater(ctx, home, time.Hour)
		ctx.RequireWaiting(t)
		cancel()
		b := ending(t, waiting)
		require.ErrorIs(t, b.err, context.Canceled)
		assert.Nil(t, b.tx)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := Begin(ctx, home.Store(), time.Hour)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, ErrBusy)
	holder.Release()
	requireFree(t, home)
}

// A cancel at any moment leaves no transaction open: either Begin gives it to its caller, or there is none.
func TestCancelNeverLeavesATransaction(t *testing.T) {
	home := newStore(t)
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		started := beginLater(ctx, home, time.Hour)
		for range i * 20 { // another moment each time
			runtime.Gosched()
		}
		cancel()
		b := ending(t, started)
		if b.err == nil {
			require.NoError(t, b.tx.Rollback())
		} else {
			require.ErrorIs(t, b.err, context.Canceled)
		}
		tx, err := Begin(t.Context(), home.Store(), 0)
		require.NoError(t, err, "the store is free at once")
		require.NoError(t, tx.Rollback())
	}
	requireFree(t, home)
}

func TestAlreadyCancelled(t *testing.T) {
	home := newStore(t)
	_, err := Begin(cancelled(t), home.Store(), time.Hour)
	require.ErrorIs(t, err, context.Canceled)
	assert.NoFileExists(t, home.Store()+"-wal", "the store was not even opened")
}

// The transaction does not depend on the context that it was begun with: a cancel is heard where we look.
func TestCancelAfterBeginChangesNothing(t *testing.T) {
	home := newStore(t, "INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)")
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := Begin(ctx, home.Store(), Patience)
	require.NoError(t, err)
	cancel()
	_, err = remove(t, tx, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Empty(t, home.Query("SELECT id FROM sessions"))
	requireFree(t, home)
}

// A cancel inside a statement is the context's error, and the rollback still works.
func TestCancelledStatements(t *testing.T) {
	home := newStore(t, "INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)")
	tx := begin(t, home)
	_, err := tx.Plan(cancelled(t), Request{SessionID: "x"})
	require.ErrorIs(t, err, context.Canceled)
	plan, err := tx.Plan(t.Context(), Request{SessionID: "x"})
	require.NoError(t, err)
	err = tx.Remove(cancelled(t), plan)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, tx.Rollback())
	assert.Equal(t, []string{"x"}, home.Query("SELECT id FROM sessions"))
	requireFree(t, home)
}

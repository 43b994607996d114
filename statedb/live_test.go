package statedb

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestLiveIDs(t *testing.T) {
	home := newStore(t, sessionX)
	for name, test := range map[string]struct {
		ids  []string
		want map[string]bool
	}{
		"none":       {nil, map[string]bool{}},
		"some":       {[]string{"x", "lost", "y"}, map[string]bool{"x": true, "y": true}},
		"twice":      {[]string{"x", "x"}, map[string]bool{"x": true}},
		"other case": {[]string{"X"}, map[string]bool{}},
		"space":      {[]string{"x ", " x"}, map[string]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			live, err := LiveIDs(t.Context(), home.Path, test.ids)
			require.NoError(t, err)
			assert.Equal(t, test.want, live)
		})
	}
}

func TestLiveIDsOfAnyNumber(t *testing.T) {
	home := newStore(t, sessionX)
	ids := make([]string, 100_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("lost-%d", i)
	}
	ids[0], ids[99_999] = "x", "y"
	live, err := LiveIDs(t.Context(), home.Path, ids)
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"x": true, "y": true}, live)
}

// A writer does not keep a reader waiting, and what it has not committed is not there.
func TestLiveIDsBesideAWriter(t *testing.T) {
	home := newStore(t, sessionX)
	sidecartest.HoldWriteLock(t, home.Store(), 0)
	live, err := LiveIDs(t.Context(), home.Path, []string{"x"})
	require.NoError(t, err)
	assert.True(t, live["x"])
}

// hurriedContext counts how often someone asked for its end: many times for each try.
type hurriedContext struct {
	context.Context
	asked atomic.Int64
}

func (c *hurriedContext) Done() <-chan struct{} {
	c.asked.Add(1)
	return c.Context.Done()
}

// A process that recovers the store, or runs without a WAL, locks readers out for a while.
func TestLiveIDsBesideAnExclusiveLock(t *testing.T) {
	home := newStore(t, sessionX, "PRAGMA journal_mode = DELETE")
	agent := home.Open()
	_, err := agent.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)

	_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
	require.ErrorIs(t, err, ErrBusy, "the patience is over")

	inner, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := &hurriedContext{Context: inner}
	type answer struct {
		live map[string]bool
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		live, err := LiveIDs(ctx, home.Path, []string{"x"})
		done <- answer{live, err}
	}()
	require.Eventually(t, func() bool { return ctx.asked.Load() > 100 }, time.Minute, time.Millisecond)
	_, err = agent.Exec("COMMIT")
	require.NoError(t, err)
	got := <-done
	require.NoError(t, got.err)
	assert.Equal(t, map[string]bool{"x": true}, got.live)

	_, err = agent.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)
	ctx.asked.Store(0)
	go func() {
		live, err := LiveIDs(ctx, home.Path, []string{"x"})
		done <- answer{live, err}
	}()
	require.Eventually(t, func() bool { return ctx.asked.Load() > 100 }, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, (<-done).err, context.Canceled)
	_, err = agent.Exec("COMMIT")
	require.NoError(t, err)
}

// No answer must never look like "nobody lives".
func TestNobodyKnowsWhoLives(t *testing.T) {
	home := newStore(t, sessionX)
	_, err := LiveIDs(cancelled(t), home.Path, []string{"x"})
	require.ErrorIs(t, err, context.Canceled)

	home.Exec("DROP TABLE sessions")
	_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
	require.ErrorIs(t, err, ErrUnsupported)

	require.NoError(t, os.Remove(home.Store()))
	_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
	require.ErrorIs(t, err, ErrMissing)
}

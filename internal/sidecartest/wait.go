package sidecartest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// AskedContext counts how often a wait has looked whether it was cancelled: once before each try.
type AskedContext struct {
	context.Context
	asked atomic.Int64
}

// Err counts, and answers as the context that it is made of.
func (c *AskedContext) Err() error {
	c.asked.Add(1)
	return c.Context.Err()
}

// RequireWaiting waits until two tries have failed: it was asked a third time.
func (c *AskedContext) RequireWaiting(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return c.asked.Load() >= 3 }, time.Minute, time.Millisecond)
}

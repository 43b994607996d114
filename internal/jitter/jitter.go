// Package jitter waits between two tries for a lock.
package jitter

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits a little, never twice the same, so that waiters do not march in step. It ends early, with the context's
// error, where the context does.
func Pause(ctx context.Context, least, more time.Duration) error {
	timer := time.NewTimer(least + rand.N(more))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

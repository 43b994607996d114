//go:build unix

package main

import (
	"context"
	"os"
	"time"
)

// parentPoll is how often we look whether our parent is still the one that started us.
const parentPoll = 500 * time.Millisecond

// startedBy is our parent, asked for as early as we can: one that ends before we ask is not noticed.
var startedBy = os.Getppid()

// whenParentEnds calls then once the process that started us is not our parent any more (contract 1.8).
func whenParentEnds(ctx context.Context, then func()) {
	ticker := time.NewTicker(parentPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if os.Getppid() != startedBy {
				then()
				return
			}
		}
	}
}

//go:build unix

package main

import (
	"context"
	"os"
	"time"
)

// parentPoll is how often we look whether our parent is still the one that started us.
const parentPoll = 500 * time.Millisecond

// whenParentEnds calls then once the process that started us is not our parent any more (contract 1.8).
func whenParentEnds(ctx context.Context, then func()) {
	parent := os.Getppid()
	ticker := time.NewTicker(parentPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if os.Getppid() != parent {
				then()
				return
			}
		}
	}
}

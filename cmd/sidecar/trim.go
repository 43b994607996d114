package main

import (
	"context"
	"runtime/debug"
	"time"

	"session-sidecar/rpc"
)

// trimEvery is how often we look whether work has ended.
const trimEvery = 2 * time.Second

// trimWhenIdle gives memory back once nothing is under way any more: between two deletes there may be days.
func trimWhenIdle(ctx context.Context, server *rpc.Server) {
	ticker := time.NewTicker(trimEvery)
	defer ticker.Stop()
	trimmed := uint64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if load := server.Load(); load.InFlight == 0 && load.Answered != trimmed {
				debug.FreeOSMemory()
				giveBack()
				trimmed = load.Answered
			}
		}
	}
}

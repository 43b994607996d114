package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"session-sidecar/internal/deletion"
)

// swept is what one sweep took.
type swept struct {
	Sessions     int           `json:"sessions"` // that it was asked for
	Swept        int           `json:"swept"`    // the others were in use, or part of a conversation that goes whole
	Transactions int           `json:"transactions"`
	Took         time.Duration `json:"nanoseconds"`
	LongestHeld  time.Duration `json:"longest_held_nanoseconds"` // how long one transaction held the write lock
}

// sweep retires the newest n sessions of a store at once.
func (h *home) sweep(ctx context.Context, deleter *deletion.Deleter, made history, n int) (s swept, err error) {
	request := deletion.SweepRequest{Request: deletion.Request{ProfileHome: h.path}}
	for i := made.sessions - min(n, made.sessions); i < made.sessions; i++ {
		request.SessionIDs = append(request.SessionIDs, made.id(i))
	}
	start := time.Now()
	done, err := deleter.Sweep(ctx, request)
	if err != nil {
		return s, err
	}
	s = swept{len(request.SessionIDs), len(done.Swept), done.Transactions, time.Since(start), done.LongestHeld}
	if s.Swept == 0 {
		return s, errors.New("no session was swept")
	}
	return s, nil
}

func (s swept) line() string {
	return fmt.Sprintf("a sweep of %d sessions: %d retired in %d transactions, %s in all; the write lock was held for %s at the longest",
		s.Sessions, s.Swept, s.Transactions, milliseconds(s.Took), milliseconds(s.LongestHeld))
}

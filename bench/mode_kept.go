package main

import (
	"context"
	"fmt"
	"time"

	"session-sidecar/internal/deletion"
)

// measureKept deletes conversations of many messages in turns without keep_days and with it.
func measureKept(ctx context.Context, t *testbed) (r result, err error) {
	names := [2]string{"without keep_days", "with it"}
	var whole, held [2]series
	for days, name := range names {
		whole[days].Name, held[days].Name = "delete "+name, "held "+name
	}
	for round := range t.rounds + 1 {
		for _, days := range []int{round % 2, 1 - round%2} { // neither is always the first
			h := t.homes[days]
			start := time.Now()
			outcome, err := t.deleter.Delete(ctx, byUser, deletion.Request{ProfileHome: h.path, SessionID: longID(round), KeepDays: days})
			took := time.Since(start)
			if err != nil {
				return r, err
			}
			if kept := outcome.Entry; (kept != nil) != (days > 0) || kept != nil && kept.MessageCount != t.kept {
				return r, fmt.Errorf("the entry of %s is not what was asked for", longID(round))
			}
			if err := h.settle(ctx); err != nil {
				return r, err
			}
			whole[days].count(round, took)
			held[days].count(round, outcome.LockHeld)
		}
	}
	r.Series = []series{whole[0], held[0], whole[1], held[1]}
	r.compare(figure{Name: "held with it / held without"}, func(p picked) float64 { return p["held "+names[1]] / p["held "+names[0]] })
	r.Notes = []string{fmt.Sprintf("a conversation of %d messages", t.kept)}
	return r, nil
}

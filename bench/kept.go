package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"session-sidecar/internal/deletion"
)

// measureKept deletes conversations of many messages of two kilobytes, in turns with keep_days and without, on two copies of the
// same store that an Agent has open. The first round is not counted.
func measureKept(ctx context.Context, l *lab, made history) (r result, err error) {
	folder, remove, err := l.bench()
	if err != nil {
		return r, err
	}
	defer remove()
	store := filepath.Join(folder, "state.db")
	err = writeLong(ctx, made, store, l.kept, l.rounds+1, func(i int) string { return fmt.Sprintf("word %d %s", i, strings.Repeat("00", 1000)) })
	if err != nil {
		return r, err
	}
	homes, closeAll, err := newHomes(ctx, folder, store, "plain", "kept")
	if err != nil {
		return r, err
	}
	defer closeAll()
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	names := [2]string{"without keep_days", "with it"}
	var whole, held [2][]time.Duration
	for round := range l.rounds + 1 {
		for _, days := range []int{round % 2, 1 - round%2} { // neither is always the first
			h := homes[days]
			start := time.Now()
			outcome, err := deleter.Delete(ctx, byUser, deletion.Request{ProfileHome: h.path, SessionID: longID(round), KeepDays: days})
			took := time.Since(start)
			if err != nil {
				return r, err
			}
			if kept := outcome.Kept; (kept != nil) != (days > 0) || kept != nil && kept.MessageCount != l.kept {
				return r, fmt.Errorf("the entry of %s is not what was asked for", longID(round))
			}
			if err := h.settle(ctx); err != nil {
				return r, err
			}
			if round > 0 {
				whole[days], held[days] = append(whole[days], took), append(held[days], outcome.LockHeld)
			}
		}
	}
	for days, name := range names {
		r.Series = append(r.Series, series{Name: "delete " + name, Took: whole[days]}, series{Name: "held " + name, Took: held[days]})
	}
	r.compare(figure{Name: "held with it / held without"}, func(p picked) float64 { return p["held "+names[1]] / p["held "+names[0]] })
	r.Notes = []string{fmt.Sprintf("a conversation of %d messages", l.kept)}
	return r, nil
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"session-sidecar/internal/deletion"
)

// fewRounds is how often something is measured that takes seconds.
const fewRounds = 5

// measureLong deletes conversations of very many messages, which both full-text indexes hold, beside their floor. The first round
// is not counted.
func measureLong(ctx context.Context, l *lab, made history) (r result, err error) {
	rounds := min(l.rounds, fewRounds)
	folder, remove, err := l.bench()
	if err != nil {
		return r, err
	}
	defer remove()
	store := filepath.Join(folder, "state.db")
	l.say("making a %s store of %d conversations of %d messages", made.schema, rounds+1, l.messages)
	if err := writeLong(ctx, made, store, l.messages, rounds+1, spoken); err != nil {
		return r, err
	}
	homes, closeAll, err := newHomes(ctx, folder, store, "floor", "delete")
	if err != nil {
		return r, err
	}
	defer closeAll()
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	floor, whole := series{Name: "floor", About: "the rows alone"}, series{Name: "delete"}
	held := series{Name: "held", About: "the write lock in it"}
	for round := range rounds + 1 {
		ids := []string{longID(round)}
		var least, took, under time.Duration
		for turn := range 2 {
			if turn == round%2 { // neither is always the first
				least, err = homes[0].floor(ctx, made, ids)
			} else {
				took, under, err = homes[1].delete(ctx, deleter, ids)
			}
			if err != nil {
				return r, err
			}
		}
		for _, h := range homes {
			if err := h.settle(ctx); err != nil {
				return r, err
			}
		}
		if round > 0 {
			floor.Took, whole.Took, held.Took = append(floor.Took, least), append(whole.Took, took), append(held.Took, under)
		}
	}
	r = result{Series: []series{floor, whole, held}, Notes: []string{fmt.Sprintf("a conversation of %d messages of %d bytes", l.messages, messageBytes)}}
	r.compare(figure{Name: "delete / floor", Target: 1.15}, func(p picked) float64 { return p["delete"] / p["floor"] })
	r.compare(figure{Name: heldToFloor}, func(p picked) float64 { return p["held"] / p["floor"] })
	return r, nil
}

func longID(i int) string { return fmt.Sprintf("long-%03d", i) }

// spoken is the text of the i-th message of a long conversation.
func spoken(i int) string { return words(chance(i, forMessages), messageBytes) }

// writeLong makes a store of conversations of so many messages, in one transaction that nothing need survive.
func writeLong(ctx context.Context, made history, path string, messages, conversations int, text func(int) string) error {
	return made.create(ctx, path, func(w *writer) {
		for i := range conversations {
			w.insert("sessions (id, source, title, started_at, message_count)", longID(i), "cli", longID(i), 1, messages)
			for m := range messages {
				w.insert("messages (session_id, role, content, timestamp)", longID(i), speaker(m), text(i*messages+m), m)
			}
		}
	})
}

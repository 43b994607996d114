package main

import (
	"context"
	"fmt"
	"time"
)

// measureLong deletes conversations of very many messages, which both full-text indexes hold, beside their floor.
func measureLong(ctx context.Context, t *testbed) (r result, err error) {
	bare, ours := t.homes[0], t.homes[1]
	floor, whole := series{Name: "floor", About: "the rows alone"}, series{Name: "delete"}
	held := series{Name: "held", About: "the write lock in it"}
	for round := range t.rounds + 1 {
		ids := []string{longID(round)}
		var least, took, under time.Duration
		for turn := range 2 {
			if turn == round%2 { // neither is always the first
				least, err = bare.floor(ctx, t.made, ids)
			} else {
				took, under, err = ours.delete(ctx, t.deleter, ids)
			}
			if err != nil {
				return r, err
			}
		}
		if err := t.settle(ctx); err != nil {
			return r, err
		}
		floor.count(round, least)
		whole.count(round, took)
		held.count(round, under)
	}
	r = result{Series: []series{floor, whole, held}, Notes: []string{fmt.Sprintf("a conversation of %d messages of %d bytes", t.messages, messageBytes)}}
	r.compare(figure{Name: "delete / floor", Target: 1.15}, func(p picked) float64 { return p["delete"] / p["floor"] })
	r.compare(figure{Name: heldToFloor}, func(p picked) float64 { return p["held"] / p["floor"] })
	return r, nil
}

package main

import (
	"context"
	"fmt"
)

// measureAgain deletes two families in one home, one after the other: nobody else writes in between. The floor of the second is
// taken over the connection of the first, so that it need not read the schema either.
func measureAgain(ctx context.Context, t *testbed) (r result, err error) {
	bare, ours := t.homes[0], t.homes[1]
	floor := series{Name: "floor", About: "the rows of the second alone"}
	first, second, held := series{Name: "first"}, series{Name: "second"}, series{Name: "held", About: "the write lock in the second"}
	for round := range t.rounds + 1 {
		if err := t.settle(ctx); err != nil {
			return r, err
		}
		one, two := t.made.family(2*round), t.made.family(2*round+1)
		least, err := bare.floors(ctx, t.made, one, two)
		if err != nil {
			return r, fmt.Errorf("the bare row deletes: %w", err)
		}
		before, _, err := ours.delete(ctx, t.deleter, one)
		if err != nil {
			return r, fmt.Errorf("the first delete: %w", err)
		}
		whole, under, err := ours.delete(ctx, t.deleter, two)
		if err != nil {
			return r, fmt.Errorf("the second delete: %w", err)
		}
		floor.count(round, least[1])
		first.count(round, before)
		second.count(round, whole)
		held.count(round, under)
	}
	r = result{Series: []series{floor, first, second, held}}
	r.compare(figure{Name: "second / floor", Target: 5}, func(p picked) float64 { return p["second"] / p["floor"] })
	r.compare(figure{Name: heldToFloor}, func(p picked) float64 { return p["held"] / p["floor"] })
	return r, nil
}

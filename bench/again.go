package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"session-sidecar/internal/deletion"
)

// measureAgain deletes two families in one home, one after the other: nobody else writes in between. The floor of the second is
// taken over the connection of the first, so that it need not read the schema either.
func measureAgain(ctx context.Context, l *lab, made history) (r result, err error) {
	rounds := min(l.rounds, made.families()/2-1)
	if rounds < 1 {
		return r, errors.New("the store is too small")
	}
	store, bytes, err := l.store(ctx, made)
	if err != nil {
		return r, err
	}
	folder, remove, err := l.bench()
	if err != nil {
		return r, err
	}
	defer remove()
	homes, closeAll, err := newHomes(ctx, folder, store, "floor", "delete")
	if err != nil {
		return r, err
	}
	defer closeAll()
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	floor := series{Name: "floor", About: "the rows of the second alone"}
	first, second, held := series{Name: "first"}, series{Name: "second"}, series{Name: "held", About: "the write lock in the second"}
	for round := range rounds + 1 {
		for _, h := range homes {
			if err := h.settle(ctx); err != nil {
				return r, err
			}
		}
		one, two := made.family(2*round), made.family(2*round+1)
		least, err := homes[0].floorAgain(ctx, made, one, two)
		if err != nil {
			return r, fmt.Errorf("the bare row deletes: %w", err)
		}
		before, _, err := homes[1].delete(ctx, deleter, one)
		if err != nil {
			return r, fmt.Errorf("the first delete: %w", err)
		}
		whole, under, err := homes[1].delete(ctx, deleter, two)
		if err != nil {
			return r, fmt.Errorf("the second delete: %w", err)
		}
		if round > 0 {
			floor.Took, first.Took = append(floor.Took, least.Took[1]), append(first.Took, before)
			second.Took, held.Took = append(second.Took, whole), append(held.Took, under)
		}
	}
	r = result{StoreBytes: bytes, Series: []series{floor, first, second, held}}
	r.compare(figure{Name: "second / floor", Target: 5}, func(p picked) float64 { return p["second"] / p["floor"] })
	r.compare(figure{Name: heldToFloor}, func(p picked) float64 { return p["held"] / p["floor"] })
	return r, nil
}

// floorAgain is the floor of several deletes over one connection, each in a transaction of its own.
func (h *home) floorAgain(ctx context.Context, made history, families ...[]string) (floors series, err error) {
	err = h.connected(ctx, "rw", func(c *sql.Conn) error {
		for _, ids := range families {
			took, err := bareDelete(ctx, c, made, ids)
			if err != nil {
				return err
			}
			floors.Took = append(floors.Took, took)
		}
		return nil
	})
	return floors, err
}

// sum is how long all of them took together.
func (s series) sum(as, about string) series {
	total := series{Name: as, About: about, Took: make([]time.Duration, 1)}
	for _, took := range s.Took {
		total.Took[0] += took
	}
	return total
}

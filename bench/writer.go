package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"session-sidecar/internal/deletion"
)

// measureWriter looks at how long the commits of an Agent take, first alone and then beside a run of deletes, one after the other.
// Somebody else committed since each of these deletes read, which is when it may hold the lock for longer.
func measureWriter(ctx context.Context, l *lab, made history) (r result, err error) {
	rounds := min(l.rounds, made.families()-1)
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
	bare, ours := homes[0], homes[1]
	floor, scan := series{Name: "floor", About: "the rows alone, and no Agent"}, series{Name: "scan", About: "every marker once, and no Agent"}
	for n := range rounds {
		ids := made.family(n)
		two, err := bare.scan(ctx, ids)
		if err != nil {
			return r, err
		}
		one, err := bare.floor(ctx, made, ids)
		if err != nil {
			return r, err
		}
		if err := bare.settle(ctx); err != nil {
			return r, err
		}
		floor.Took, scan.Took = append(floor.Took, one), append(scan.Took, two)
	}

	agent, err := startAgent(ctx, ours.store(), made.id(made.sessions-1))
	if err != nil {
		return r, err
	}
	defer agent.end()
	alone, beside := series{Name: "alone", About: "a commit of the Agent"}, series{Name: "beside", About: "a commit beside deletes"}
	if alone.Took, err = agent.after(ctx, l.calm); err != nil {
		return r, err
	}
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	whole, held := series{Name: "delete"}, series{Name: "held", About: "the write lock in it"}
	for n, began := 0, time.Now(); n < rounds || n < made.families()-1 && time.Since(began) < l.calm; n++ {
		took, under, err := ours.delete(ctx, deleter, made.family(n))
		if err != nil {
			return r, fmt.Errorf("the delete: %w", err)
		}
		whole.Took, held.Took = append(whole.Took, took), append(held.Took, under)
	}
	if beside.Took, err = agent.after(ctx, 0); err != nil {
		return r, err
	}
	r = result{StoreBytes: bytes, Series: []series{floor, scan, alone, beside, whole, held}}
	before, now := quantile(alone.Took, 0.99), quantile(beside.Took, 0.99)
	allowed := median(scan.Took) + median(floor.Took)
	r.Figures = append(r.Figures, figure{
		Name: "growth of the 99th percentile / (scan + floor)", Value: max(0, (now-before).Seconds()) / allowed.Seconds(), Target: 1,
	})
	r.compare(figure{Name: "held / (scan + 3 floor)", Target: 1}, func(p picked) float64 { return p["held"] / (p["scan"] + 3*p["floor"]) })
	r.Notes = []string{fmt.Sprintf("99 of 100 commits took at most %s alone (of %d), %s beside deletes (of %d)",
		milliseconds(before), len(alone.Took), milliseconds(now), len(beside.Took))}
	return r, nil
}

// after gives how long the commits of some time took, of which there is at least one.
func (a *writingAgent) after(ctx context.Context, wait time.Duration) (took []time.Duration, err error) {
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for len(took) == 0 && err == nil {
		took, err = a.commits()
	}
	return took, err
}

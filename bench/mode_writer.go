package main

import (
	"context"
	"fmt"
	"time"
)

// measureWriter looks at how long the commits of an Agent take, first alone and then beside a run of deletes, one after the other.
// Somebody else committed since each of these deletes read, which is when it may hold the lock for longer.
func measureWriter(ctx context.Context, t *testbed) (r result, err error) {
	bare, ours, made := t.homes[0], t.homes[1], t.made
	floor, scan := series{Name: "floor", About: "the rows alone, and no Agent"}, series{Name: "scan", About: "every marker once, and no Agent"}
	for n := range t.rounds {
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
		floor.add(one)
		scan.add(two)
	}

	agent, err := startAgent(ctx, ours.store(), made.id(made.sessions-1))
	if err != nil {
		return r, err
	}
	defer agent.end()
	alone, beside := series{Name: "alone", About: "a commit of the Agent"}, series{Name: "beside", About: "a commit beside deletes"}
	if alone.Took, err = agent.after(ctx, t.calm); err != nil {
		return r, err
	}
	whole, held := series{Name: "delete"}, series{Name: "held", About: "the write lock in it"}
	for n, began := 0, time.Now(); n < t.rounds || n < made.families()-1 && time.Since(began) < t.calm; n++ {
		took, under, err := ours.delete(ctx, t.deleter, made.family(n))
		if err != nil {
			return r, fmt.Errorf("the delete: %w", err)
		}
		whole.add(took)
		held.add(under)
	}
	if beside.Took, err = agent.after(ctx, 0); err != nil {
		return r, err
	}
	r = result{Series: []series{floor, scan, alone, beside, whole, held}}
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

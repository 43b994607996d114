package statedb

import (
	"context"
	"slices"
)

// This file decides which rows go on the legacy path, and in which order (contract 5.3); who continues whom is in chain.go, who worked for
// whom in delegates.go.

// targets is the whole set in the order of contract 5.3: the chain tip first, each id followed by its delegates, sorted;
// an id counts once.
func (g *graph) targets(ctx context.Context, start, requested string, withChain bool) ([]Target, error) {
	chain := []string{start}
	if withChain {
		chain = g.chain(start)
	}
	var targets []Target
	listed := map[string]bool{}
	add := func(id string, why Why) {
		if !listed[id] {
			listed[id] = true
			if id == requested {
				why = WhyRequested
			}
			targets = append(targets, Target{ID: id, Why: why})
		}
	}
	for _, id := range slices.Backward(chain) {
		if err := ctx.Err(); err != nil {
			return nil, err // a large conversation takes a while, and somebody waits for the write lock
		}
		add(id, WhyCompression)
		for _, delegate := range g.delegates(id) {
			add(delegate, WhyDelegate)
		}
	}
	return targets, nil
}

// kept lists the rows that hang on the targets, as children or by their marker, and stay; sorted.
func (g *graph) kept(targets []Target) []Kept {
	going := goingOf(targets)
	why := map[string]KeptWhy{}
	for _, t := range targets {
		keeper := newKeeper(g, t.ID)
		for _, row := range slices.Concat(g.children[t.ID], g.marked[t.ID]) {
			if !going[row.id] && why[row.id] == "" {
				why[row.id] = keeper.why(row)
			}
		}
	}
	return sortedKept(why)
}

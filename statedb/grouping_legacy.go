package statedb

import (
	"context"
	"maps"
	"slices"
)

// This file decides which rows of a store make up which conversation on the legacy path (contract 4 and 5.1 to 5.3).

// legacySorter finds for every row of a graph what it hangs on: it is a segment of a conversation, a delegate of such a segment
// or of another delegate, or both.
type legacySorter struct {
	next, previous map[*session]*session // a segment and the only one that continues it, both ways
	owner          map[*session]*session // a delegate -> the row that it works for
	conversations  []group
}

// legacyGrouping sorts the graph. No row is lost: one that neither continues another nor works for one begins a conversation.
// So does a delegate that something continues; it counts as a delegate too, because it goes with the row that it works
// for.
func (g *graph) legacyGrouping(ctx context.Context) (*grouping, error) {
	s := &legacySorter{next: map[*session]*session{}, previous: map[*session]*session{}, owner: map[*session]*session{}}
	for _, row := range g.rows {
		if child := g.onlyContinuation(row); child != nil {
			s.next[row], s.previous[child] = child, row
		}
	}
	for _, row := range g.rows {
		if err := ctx.Err(); err != nil {
			return nil, err // markers that lead far away make this slow
		}
		s.findDelegates(g, row)
	}
	s.takeAlong(g)
	s.cutCycles()
	takes := map[*session][]*session{}
	for delegate, owner := range s.owner {
		takes[owner] = append(takes[owner], delegate)
	}
	for _, row := range g.rows {
		if s.previous[row] == nil && (s.owner[row] == nil || s.next[row] != nil) {
			s.begin(row)
		}
	}
	f := newGrouping(takes)
	f.conversations = s.conversations
	return f, nil
}

// onlyContinuation is the one child that continues a row. Where two do, nobody can say which one the conversation is,
// and each begins one of its own.
func (g *graph) onlyContinuation(row *session) (only *session) {
	for _, child := range g.children[row.id] {
		if continues(child, row, child.markers) {
			if only != nil {
				return nil
			}
			only = child
		}
	}
	return only
}

// findDelegates leaves out what a delete of the owner would keep, and what is a segment of the owner's conversation.
func (s *legacySorter) findDelegates(g *graph, owner *session) {
	candidates := g.delegatedBy(owner.id)
	if len(candidates) == 0 {
		return
	}
	keeper := newKeeper(g, owner.id)
	for _, row := range candidates {
		if s.previous[row] == nil && !keeper.keeps(row) {
			s.owner[row] = owner
		}
	}
}

// takeAlong finds the rows that go on after a delegate and work for it too, as a subagent's do: they go with its owner and
// begin nothing of their own.
func (s *legacySorter) takeAlong(g *graph) {
	queue := slices.Collect(maps.Keys(s.owner))
	for ; len(queue) > 0; queue = queue[1:] {
		row := queue[0]
		next := s.next[row]
		if next == nil || !slices.Contains(g.delegatedBy(row.id), next) || newKeeper(g, row.id).keeps(next) {
			continue
		}
		delete(s.next, row)
		delete(s.previous, next)
		s.owner[next] = row
		queue = append(queue, next)
	}
}

// above is the one row that a row hangs on, if any.
func (s *legacySorter) above(row *session) *session {
	if previous := s.previous[row]; previous != nil {
		return previous
	}
	return s.owner[row]
}

// cutCycles lets go of the row with the smallest id in each circle of rows that hang on each other, so that it begins a
// conversation and all of them are listed.
func (s *legacySorter) cutCycles() {
	walks := map[*session]int{} // which walk came to a row first
	walk := 0
	follow := func(row *session) {
		walk++
		for ; row != nil && walks[row] == 0; row = s.above(row) {
			walks[row] = walk
		}
		if row != nil && walks[row] == walk {
			s.cutCycle(row)
		}
	}
	for row := range s.previous {
		follow(row)
	}
	for row := range s.owner {
		follow(row)
	}
}

// cutCycle does so for the circle that a row is in.
func (s *legacySorter) cutCycle(row *session) {
	smallest := row
	for other := s.above(row); other != row; other = s.above(other) {
		if other.id < smallest.id {
			smallest = other
		}
	}
	delete(s.next, s.previous[smallest])
	delete(s.previous, smallest)
	delete(s.owner, smallest)
}

// begin enters the conversation of a first segment. After as many segments as a delete would take in one go (contract
// 5.1) another one begins.
func (s *legacySorter) begin(row *session) {
	var segments []*session
	for ; row != nil; row = s.next[row] {
		if len(segments) > maxHops {
			s.conversations = append(s.conversations, group{segments: segments})
			segments = nil
		}
		segments = append(segments, row)
	}
	s.conversations = append(s.conversations, group{segments: segments})
}

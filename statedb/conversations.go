package statedb

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// This file decides which rows of a store make up which conversation, and in which order conversations are listed
// (contract 5d). It is all functions of rows that were read before.

// ListRequest is what a caller wants to see of the conversations.
type ListRequest struct {
	Limit  int
	Before *Position // where the page before ended; nil for the first page
	Query  string    // words that one message must hold; blank for all conversations
}

// Page is one page of conversations, newest activity first.
type Page struct {
	Conversations []Conversation
	Next          *Position // nil on the last page
}

// Position is a conversation's place in the order of the list. It stays where it is while others come and go.
type Position struct {
	Activity *float64 // seconds since 1970; nil where nobody knows, which comes last
	Root     string
}

// compare orders by latest activity, then by root, both descending.
func (p Position) compare(other Position) int {
	switch {
	case p.Activity == nil && other.Activity != nil:
		return 1
	case p.Activity != nil && other.Activity == nil:
		return -1
	case p.Activity != nil && *p.Activity != *other.Activity:
		return cmp.Compare(*other.Activity, *p.Activity)
	}
	return cmp.Compare(other.Root, p.Root)
}

// conversation is a first segment with the segments that continue it, oldest first, and its place in the list.
type conversation struct {
	Position
	segments []*session
}

// families is a graph of a whole store with every row in its place: a segment of a conversation, a delegate of such a
// segment or of another delegate, or both.
type families struct {
	next, previous map[*session]*session   // a segment and the only one that continues it, both ways
	owner          map[*session]*session   // a delegate -> the row that it works for
	delegates      map[*session][]*session // and back
	conversations  [][]*session            // the segments of each
}

// families sorts the graph. No row is lost: one that neither continues another nor works for one begins a conversation.
// So does a delegate that something continues; it counts as a delegate too, because it goes with the row that it works
// for.
func (g *graph) families(ctx context.Context) (*families, error) {
	f := &families{
		next: map[*session]*session{}, previous: map[*session]*session{},
		owner: map[*session]*session{}, delegates: map[*session][]*session{},
	}
	for _, row := range g.rows {
		if child := g.onlyContinuation(row); child != nil {
			f.next[row], f.previous[child] = child, row
		}
	}
	for _, row := range g.rows {
		if err := ctx.Err(); err != nil {
			return nil, err // markers that lead far away make this slow
		}
		f.findDelegates(g, row)
	}
	f.takeAlong(g)
	f.cutCycles()
	for delegate, owner := range f.owner {
		f.delegates[owner] = append(f.delegates[owner], delegate)
	}
	for _, row := range g.rows {
		if f.previous[row] == nil && (f.owner[row] == nil || f.next[row] != nil) {
			f.begin(row)
		}
	}
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
func (f *families) findDelegates(g *graph, owner *session) {
	candidates := g.delegatedBy(owner.id)
	if len(candidates) == 0 {
		return
	}
	keeper := newKeeper(g, owner.id)
	for _, row := range candidates {
		if f.previous[row] == nil && !keeper.keeps(row) {
			f.owner[row] = owner
		}
	}
}

// takeAlong finds the rows that go on after a delegate and work for it too, as a subagent's do: they go with its owner and
// begin nothing of their own.
func (f *families) takeAlong(g *graph) {
	queue := slices.Collect(maps.Keys(f.owner))
	for ; len(queue) > 0; queue = queue[1:] {
		row := queue[0]
		next := f.next[row]
		if next == nil || !slices.Contains(g.delegatedBy(row.id), next) || newKeeper(g, row.id).keeps(next) {
			continue
		}
		delete(f.next, row)
		delete(f.previous, next)
		f.owner[next] = row
		queue = append(queue, next)
	}
}

// above is the one row that a row hangs on, if any.
func (f *families) above(row *session) *session {
	if previous := f.previous[row]; previous != nil {
		return previous
	}
	return f.owner[row]
}

// cutCycles lets go of the row with the smallest id in each circle of rows that hang on each other, so that it begins a
// conversation and all of them are listed.
func (f *families) cutCycles() {
	walks := map[*session]int{} // which walk came to a row first
	walk := 0
	follow := func(row *session) {
		walk++
		for ; row != nil && walks[row] == 0; row = f.above(row) {
			walks[row] = walk
		}
		if row != nil && walks[row] == walk {
			f.cutCycle(row)
		}
	}
	for row := range f.previous {
		follow(row)
	}
	for row := range f.owner {
		follow(row)
	}
}

// cutCycle does so for the circle that a row is in.
func (f *families) cutCycle(row *session) {
	smallest := row
	for other := f.above(row); other != row; other = f.above(other) {
		if other.id < smallest.id {
			smallest = other
		}
	}
	delete(f.next, f.previous[smallest])
	delete(f.previous, smallest)
	delete(f.owner, smallest)
}

// begin enters the conversation of a first segment. After as many segments as a delete would take in one go (contract
// 5.1) another one begins.
func (f *families) begin(row *session) {
	var segments []*session
	for ; row != nil; row = f.next[row] {
		if len(segments) > maxHops {
			f.conversations = append(f.conversations, segments)
			segments = nil
		}
		segments = append(segments, row)
	}
	f.conversations = append(f.conversations, segments)
}

// members are the segments of a conversation and all that works for them, directly or not.
func (f *families) members(segments []*session) []*session {
	members := slices.Clone(segments)
	for i := 0; i < len(members); i++ {
		members = append(members, f.delegates[members[i]]...)
	}
	return members
}

// ownersFirst lists every row that works for another or has others work for it, each after its owner.
func (f *families) ownersFirst() []*session {
	var order []*session
	for row := range f.delegates {
		if f.owner[row] == nil {
			order = append(order, row)
		}
	}
	return f.members(order)
}

// place gives every conversation its place in the list, by the latest activity of any of its rows. Where some rows match
// a query, it leaves out the conversations without one.
func (f *families) place(activity map[*session]float64, matches map[*session]bool) []conversation {
	for _, row := range slices.Backward(f.ownersFirst()) {
		owner := f.owner[row]
		if owner == nil {
			continue
		}
		if at, known := activity[row]; known {
			raise(activity, owner, at)
		}
		if matches[row] {
			matches[owner] = true
		}
	}
	placed := make([]conversation, 0, len(f.conversations))
	for _, segments := range f.conversations {
		one := conversation{Position{Root: segments[0].id}, segments}
		matched := matches == nil
		for _, row := range segments {
			if at, known := activity[row]; known && (one.Activity == nil || at > *one.Activity) {
				one.Activity = &at
			}
			matched = matched || matches[row]
		}
		if matched {
			placed = append(placed, one)
		}
	}
	slices.SortFunc(placed, func(a, b conversation) int { return a.compare(b.Position) })
	return placed
}

func raise(activity map[*session]float64, row *session, at float64) {
	if known, ok := activity[row]; !ok || at > known {
		activity[row] = at
	}
}

// cut gives the conversations after a position, limit of them at most, and where the page ended if there are more.
func cut(placed []conversation, before *Position, limit int) (page []conversation, next *Position) {
	if before != nil {
		first, found := slices.BinarySearchFunc(placed, *before, func(c conversation, p Position) int { return c.compare(p) })
		if found {
			first++
		}
		placed = placed[first:]
	}
	if len(placed) <= limit {
		return placed, nil
	}
	last := placed[limit-1].Position
	return placed[:limit], &last
}

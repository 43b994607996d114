package statedb

import (
	"cmp"
	"context"
	"slices"
)

// This file decides which rows of a store make up which conversation on the canonical path (contract 4, 5b.2 and 5c): all
// functions of a graph whose markers were read as SQLite reads them, and of the local policies.

// local is a local conversation: the members that its policy lists, in their order (contract 5b.1).
type local struct {
	members []*session
	has     map[*session]bool
}

// newLocal is the local conversation that a policy lists, or nil where its members do not follow each other: then a delete
// refuses it, and each of them stands for itself. So it does where the policy lists one session, which changes nothing.
func (g *graph) newLocal(lineage []string) *local {
	if len(lineage) < 2 {
		return nil
	}
	l := &local{has: map[*session]bool{}}
	for i, id := range lineage {
		row := g.rows[id]
		if row == nil || (i > 0 && !g.follows(row, l.members[i-1])) {
			return nil
		}
		l.members = append(l.members, row)
		l.has[row] = true
	}
	return l
}

// follows tells whether a row is what its parent was reset to, or continues it.
func (g *graph) follows(row, parent *session) bool {
	if row.parent == nil || *row.parent != parent.id {
		return false
	}
	if parent.ended(endSessionReset) {
		return row.markers.reset.names(parent.id)
	}
	return slices.Contains(g.continuations(parent), row.id)
}

// canonicalSorter finds the fewest rows that a delete has to begin with so that deletes take all rows.
type canonicalSorter struct {
	*grouping
	graph   *graph
	locals  map[string]*local     // by owner
	next    map[*session]*session // a segment and the only one that continues it
	claimed map[*session]bool     // rows that are a segment already
}

// beginning is what a delete of a conversation begins with: one row, or the members of a local conversation. row is what led
// here.
type beginning struct {
	row   *session
	local *local
}

func (b beginning) rows() []*session {
	if b.local != nil {
		return b.local.members
	}
	return []*session{b.row}
}

// canonicalGrouping sorts the graph, so that a delete of a conversation's first segment, with whole_conversation, takes exactly
// its members, unless it is refused. No row is lost. Whoever works for two is a member of both conversations, since each delete
// takes it; no row is a segment of two. Of rows that hang on each other in a circle the one with the smallest id begins.
func (g *graph) canonicalGrouping(ctx context.Context, locals map[string]*local) (*grouping, error) {
	s := &canonicalSorter{graph: g, locals: locals, next: map[*session]*session{}, claimed: map[*session]bool{}}
	takes := map[*session][]*session{}
	for _, row := range g.rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// Where two continue one, nobody can say which one the conversation is, and each begins one of its own; so does one that
		// may be a branch. A delete of the first is refused.
		if next := g.continuations(row); len(next) == 1 && next[0] != row.id && !g.rows[next[0]].disputed {
			s.next[row] = g.rows[next[0]]
			takes[row] = append(takes[row], s.next[row])
		}
		for _, id := range g.delegatesOf(row.id) {
			if id != row.id {
				takes[row] = append(takes[row], g.rows[id])
			}
		}
	}
	s.grouping = newGrouping(takes)
	beginnings, err := s.beginnings(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range beginnings {
		if b.local == nil {
			s.begin(b.row)
		}
	}
	for _, b := range beginnings {
		if b.local != nil {
			s.beginLocal(b)
		}
	}
	return s.grouping, nil
}

// beginnings are such that no row is left out, and none of them is taken with another one.
func (s *canonicalSorter) beginnings(ctx context.Context) ([]beginning, error) {
	listed := map[*session]bool{}
	for _, l := range s.locals {
		for _, row := range l.members {
			listed[row] = true
		}
	}
	// What goes along with nothing begins, for certain. This takes all but local conversations and circles.
	var certain []beginning
	var rest []*session
	taken := map[*session]bool{}
	for _, row := range s.graph.rows {
		if listed[row] || len(s.takers[row]) > 0 {
			rest = append(rest, row)
			continue
		}
		certain = append(certain, beginning{row: row})
		s.reach(taken, []*session{row})
	}
	rest = slices.DeleteFunc(rest, func(row *session) bool { return taken[row] })
	slices.SortFunc(rest, func(a, b *session) int { return cmp.Compare(a.id, b.id) })
	possible, err := s.possible(ctx, rest)
	if err != nil {
		return nil, err
	}
	// None of them is taken with an earlier one, or it would not be among them. What a later one takes falls away.
	for _, b := range slices.Backward(possible) {
		if slices.ContainsFunc(b.rows(), func(row *session) bool { return !taken[row] }) {
			certain = append(certain, b)
			s.reach(taken, b.rows())
		}
	}
	return certain, nil
}

// possible goes over the rows that nothing certain takes: each begins a conversation, unless an earlier one takes it.
func (s *canonicalSorter) possible(ctx context.Context, rows []*session) ([]beginning, error) {
	var possible []beginning
	met := map[*session]bool{}
	seen := map[*local]bool{nil: true}
	begin := func(b beginning) {
		possible = append(possible, b)
		s.reach(met, b.rows())
	}
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if met[row] {
			continue
		}
		if l := s.localOf(row); !seen[l] {
			seen[l] = true
			begin(beginning{row, l})
		}
		if !met[row] {
			begin(beginning{row: row}) // two continue one on the way to it: no delete takes it
		}
	}
	return possible, nil
}

// localOf is the local conversation that a delete of a session's whole conversation takes (contract 5b.1, and the owner of
// 5b.2): the one that its root's chat names, if that lists the root, else the root's own; nil where there is none.
func (s *canonicalSorter) localOf(row *session) *local {
	if len(s.locals) == 0 {
		return nil
	}
	root := s.graph.rows[s.graph.leaseRoot(row.id)]
	if root.chatID != nil {
		if l := s.locals[*root.chatID]; l != nil && l.has[root] {
			return l
		}
	}
	return s.locals[root.id]
}

// begin enters the conversation of one row and what continues it.
func (s *canonicalSorter) begin(row *session) {
	s.conversations = append(s.conversations, group{segments: s.claim(nil, row)})
}

// beginLocal enters a local conversation, when all others are entered. Its first segment is one whose own delete takes it. After
// that every member is a segment that is none elsewhere; the rest goes along, as an owner that continues another session.
func (s *canonicalSorter) beginLocal(b beginning) {
	var segments []*session
	for _, row := range b.local.members {
		if of := s.localOf(row); of == b.local || (of == nil && len(segments) > 0) {
			segments = s.claim(segments, row)
		}
	}
	if len(segments) == 0 {
		segments = s.claim(nil, b.row)
	}
	if len(segments) == 0 { // in a circle: the delete that takes it begins with a segment of another one
		s.beginRest(b.local.members)
		return
	}
	s.conversations = append(s.conversations, group{segments, b.local.members})
}

// beginRest has each of some rows that no conversation takes begin one of its own: no delete is certain to take it.
func (s *canonicalSorter) beginRest(rows []*session) {
	taken := map[*session]bool{}
	for _, k := range s.conversations {
		s.reach(taken, slices.Concat(k.segments, k.others))
	}
	for _, row := range rows {
		if !taken[row] {
			s.begin(row)
			s.reach(taken, []*session{row})
		}
	}
}

// claim appends a row and what continues it to some segments, as far as they are none yet.
func (s *canonicalSorter) claim(segments []*session, row *session) []*session {
	for ; row != nil && !s.claimed[row]; row = s.next[row] {
		s.claimed[row] = true
		segments = append(segments, row)
	}
	return segments
}

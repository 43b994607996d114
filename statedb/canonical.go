package statedb

import (
	"context"
	"fmt"
	"slices"
)

// This file decides which rows belong to a conversation on the canonical path (contract 5b.2): all functions of a graph
// whose markers were read as SQLite reads them.

// continuations lists the children that continue a session which ended by compression, sorted. A marker that names another
// row than the parent was inherited with the config and says nothing here.
func (g *graph) continuations(row *session) []string {
	if row == nil || !row.ended(endCompression) {
		return nil
	}
	var ids []string
	for _, child := range g.children[row.id] {
		if !child.hasSource(sourceTool) && !child.markers.anyNames(row.id) {
			ids = append(ids, child.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// delegatesOf lists the rows that work for an id: their marker names it, or they are its children and have one at all.
func (g *graph) delegatesOf(id string) []string {
	var ids []string
	for _, row := range slices.Concat(g.marked[id], g.children[id]) {
		if row.markers.delegate.present {
			ids = append(ids, row.id)
		}
	}
	return ids
}

// conversation grows the members of a conversation to all that goes with them, to a fixed point: what continues a
// compressed member, and whoever works for one. Two that continue the same member are ErrLineageAmbiguous, naming both; so is one
// that may be something else.
func (g *graph) conversation(ctx context.Context, members []string) (map[string]Why, error) {
	why := map[string]Why{}
	var queue []string
	add := func(id string, reason Why) {
		if _, known := why[id]; !known {
			why[id] = reason
			queue = append(queue, id)
		}
	}
	for _, id := range members {
		add(id, WhyLineage)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err // a large conversation takes a while, and somebody waits for the write lock
		}
		id := queue[0]
		next := g.continuations(g.rows[id])
		if len(next) > 1 {
			return nil, ambiguous(id, next)
		}
		for _, continuation := range next {
			if g.rows[continuation].disputed {
				return nil, doubtful(id, continuation)
			}
			add(continuation, WhyCompression)
		}
		for _, delegate := range g.delegatesOf(id) {
			add(delegate, WhyDelegate)
		}
	}
	return why, nil
}

func ambiguous(id string, next []string) error {
	detail := fmt.Sprintf("session %s is continued by %s and by %s", id, next[0], next[1])
	if more := len(next) - 2; more > 0 {
		detail += fmt.Sprintf(", and by %d more", more)
	}
	return &Error{Kind: ErrLineageAmbiguous, Detail: detail}
}

func doubtful(id, continuation string) error {
	return &Error{Kind: ErrLineageAmbiguous, Detail: fmt.Sprintf(
		"session %s may continue %s or not: its model_config names that session in a marker that SQLite cannot read", continuation, id)}
}

// inOrder lists a conversation in the order of deleted_ids (contract 5b.2): the root, then the others sorted. A whole
// conversation that does not hold the requested id is ErrLineageAmbiguous.
func inOrder(why map[string]Why, root, requested string) ([]Target, error) {
	if _, held := why[requested]; !held {
		return nil, doesNotLeadTo(root, requested)
	}
	why[root] = WhyCompression
	why[requested] = WhyRequested
	targets := []Target{{ID: root, Why: why[root]}}
	for _, id := range sortedKeys(why) {
		if id != root {
			targets = append(targets, Target{ID: id, Why: why[id]})
		}
	}
	return targets, nil
}

// keptChildren lists the rows that hang on the targets and stay, sorted: each becomes a root.
func (g *graph) keptChildren(targets []Target) []Kept {
	going := goingOf(targets)
	why := map[string]KeptWhy{}
	for _, t := range targets {
		for _, child := range g.children[t.ID] {
			switch {
			case going[child.id]:
			case child.markers.branch.present:
				why[child.id] = KeptBranch
			case child.markers.reset.present:
				why[child.id] = KeptReset
			default:
				why[child.id] = KeptNotADelegate
			}
		}
	}
	return sortedKept(why)
}

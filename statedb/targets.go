package statedb

import (
	"context"
	"fmt"
	"slices"
)

// What goes and what stays, with the reasons that a preview gives on either path; and how the legacy path puts that together, in the
// order of deleted_ids (contract 5.3).

// Why says what brought an id into a set.
type Why string

// The reasons, as preview names them (contract 5d).
const (
	WhyRequested   Why = "requested"
	WhyCompression Why = "compression" // a segment of the chain
	WhyDelegate    Why = "delegate"
)

// Target is one id that goes, with the reason.
type Target struct {
	ID  string
	Why Why
	// Title and MessageCount are there where the plan has been described, as a preview is.
	Title        string
	MessageCount int
}

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

// Kept is a row that hangs on one that goes, and stays.
type Kept struct {
	ID  string
	Why KeptWhy
}

// KeptWhy says why a row stays.
type KeptWhy string

// The reasons to stay (contract 5.2).
const (
	KeptBranch       KeptWhy = "branch"                 // it branched off: a conversation of its own
	KeptContinuation KeptWhy = "continuation"           // it continues a compressed session
	KeptWorkedForIt  KeptWhy = "delegate_of_compressed" // it worked for a session that ended by compression
	KeptAfterBranch  KeptWhy = "after_branch"           // it started when its parent had branched off
	KeptBelowKept    KeptWhy = "below_kept"             // it hangs below a row that stays
	KeptNotADelegate KeptWhy = "not_a_delegate"         // a child that nobody delegated to; it becomes a root
)

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

// goingOf is the set of the ids that go.
func goingOf(targets []Target) map[string]bool {
	going := map[string]bool{}
	for _, t := range targets {
		going[t.ID] = true
	}
	return going
}

func sortedKept(why map[string]KeptWhy) (kept []Kept) {
	for _, id := range sortedKeys(why) {
		kept = append(kept, Kept{id, why[id]})
	}
	return kept
}

// doesNotLeadTo is ErrLineageAmbiguous for a whole conversation that does not hold the requested id.
func doesNotLeadTo(root, requested string) error {
	return &Error{
		Kind:   ErrLineageAmbiguous,
		Detail: fmt.Sprintf("the conversation that starts with %s does not lead to %s alone", root, requested),
	}
}

package statedb

import "fmt"

// What goes and what stays, with the reasons that a preview gives. legacy.go and canonical.go put them together, each for its path.

// Why says what brought an id into a set.
type Why string

// The reasons, as preview names them (contract 5d).
const (
	WhyRequested   Why = "requested"
	WhyCompression Why = "compression" // a segment of the chain
	WhyDelegate    Why = "delegate"
	WhyLineage     Why = "lineage" // a local policy lists it; on the canonical path alone
)

// Target is one id that goes, with the reason.
type Target struct {
	ID  string
	Why Why
	// Title and MessageCount are there where the plan has been described, as a preview is.
	Title        string
	MessageCount int
}

// Kept is a row that hangs on one that goes, and stays.
type Kept struct {
	ID  string
	Why KeptWhy
}

// KeptWhy says why a row stays.
type KeptWhy string

// The reasons to stay (contract 5.2, 5b.2).
const (
	KeptBranch       KeptWhy = "branch"                 // it branched off: a conversation of its own
	KeptReset        KeptWhy = "reset"                  // another conversation was begun with it; told on the canonical path alone
	KeptContinuation KeptWhy = "continuation"           // it continues a compressed session
	KeptWorkedForIt  KeptWhy = "delegate_of_compressed" // it worked for a session that ended by compression
	KeptAfterBranch  KeptWhy = "after_branch"           // it started when its parent had branched off
	KeptBelowKept    KeptWhy = "below_kept"             // it hangs below a row that stays
	KeptNotADelegate KeptWhy = "not_a_delegate"         // a child that nobody delegated to; it becomes a root
)

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

package statedb

import (
	"context"
	"slices"
)

// This file decides which rows belong to a conversation on the legacy path (contract 5.1 to 5.3, 5.5 and 5c). It is
// all functions of a graph that was read before, so that whoever asks decides alike.

// maxHops bounds a chain (contract 5.1).
const maxHops = 1000

// continuationSlack is how long before its parent's end a continuation may have started, in seconds (contract 5.1).
const continuationSlack = 1.0

const (
	endCompression = "compression"
	endCLIClose    = "cli_close"
	endBranched    = "branched"
	sourceTool     = "tool"
	sourceSubagent = "subagent"
	sourceFork     = "fork"
)

// session is what the lineage needs of a row of sessions. Columns that an old store lacks read as NULL.
type session struct {
	id            string
	parent        *string
	source        *string
	sessionSource *string
	endReason     *string
	chatID        *string
	startedAt     any // nil, int64, float64 or string
	endedAt       any
	markers       markers
	// disputed tells, on the canonical path, of a model_config that is JSON to the Agent's Python and not to SQLite, and that to
	// Python has a marker naming the parent, as a user's branch with a NaN beside it does. By the contract no marker is read there.
	disputed bool
}

func (s *session) ended(reason string) bool { return s.endReason != nil && *s.endReason == reason }

func (s *session) hasSource(source string) bool { return s.source != nil && *s.source == source }

// graph is the part of the store that surrounds the ids in question: their rows, and who points at whom.
type graph struct {
	rows     map[string]*session
	children map[string][]*session // by physical parent
	// marked holds the rows whose _delegate_from names an id other than their physical parent, by the id it names.
	marked map[string][]*session
}

// parent gives a row's physical parent where both are there.
func (g *graph) parent(s *session) *session {
	if s.parent == nil {
		return nil
	}
	return g.rows[*s.parent]
}

// continues tells whether c continues p, its physical parent (contract 5.1). m are c's markers, or those of them that
// count.
func continues(c, p *session, m markers) bool {
	if c.sessionSource != nil && folded(*c.sessionSource) == sourceFork {
		return false
	}
	if c.hasSource(sourceTool) || m.any() || !sourcesAgree(c, p) {
		return false
	}
	if !p.ended(endCompression) && !p.ended(endCLIClose) {
		return false
	}
	if p.endedAt == nil {
		return true
	}
	started, startKnown := finite(c.startedAt)
	if c.startedAt == nil {
		started, startKnown = 0, true
	}
	ended, endKnown := finite(p.endedAt)
	return startKnown && endKnown && started+continuationSlack >= ended
}

func sourcesAgree(a, b *session) bool {
	if a.source == nil || b.source == nil || *a.source == "" || *b.source == "" {
		return true
	}
	return folded(*a.source) == folded(*b.source)
}

// firstSegment climbs from an id as long as its parent is continued by it, stopping at a cycle (contract 4,
// whole_conversation).
func (g *graph) firstSegment(id string) string {
	seen := map[string]bool{id: true}
	for {
		row := g.rows[id]
		if row == nil {
			return id
		}
		parent := g.parent(row)
		if parent == nil || seen[parent.id] || !continues(row, parent, row.markers) {
			return id
		}
		id = parent.id
		seen[id] = true
	}
}

// chain is an id and what continues it, oldest first: the one child that does, as long as there is exactly one and it is
// not in the chain yet (contract 5.1).
func (g *graph) chain(id string) []string {
	chain := []string{id}
	seen := map[string]bool{id: true}
	for range maxHops {
		row := g.rows[id]
		if row == nil {
			break
		}
		var next []*session
		for _, child := range g.children[id] {
			if continues(child, row, child.markers) {
				next = append(next, child)
			}
		}
		if len(next) != 1 || seen[next[0].id] {
			break
		}
		id = next[0].id
		seen[id] = true
		chain = append(chain, id)
	}
	return chain
}

// delegates lists the rows that go with an id because it delegated work to them, sorted (contract 5.2).
func (g *graph) delegates(id string) []string {
	keeper := newKeeper(g, id)
	set := map[string]bool{id: true}
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		for _, row := range g.delegatedBy(queue[0]) {
			if !set[row.id] && !keeper.keeps(row) {
				set[row.id] = true
				queue = append(queue, row.id)
			}
		}
	}
	delete(set, id)
	return sortedKeys(set)
}

// delegatedBy lists the rows that name an id as the one they work for: by their marker, or as its child of source
// subagent that says nothing else.
func (g *graph) delegatedBy(id string) []*session {
	found := slices.Clone(g.marked[id])
	for _, child := range g.children[id] {
		m := child.markers
		if m.delegate.names(id) || (!m.delegate.present && child.hasSource(sourceSubagent) && m.readable) {
			found = append(found, child)
		}
	}
	return found
}

// keeper decides which rows stay although they hang below a requested id: branches, continuations, and all that hangs
// below those (contract 5.2).
type keeper struct {
	graph     *graph
	requested string
	known     map[string]bool
}

func newKeeper(g *graph, requested string) *keeper {
	return &keeper{graph: g, requested: requested, known: map[string]bool{}}
}

// why says why a row stays.
func (k *keeper) why(row *session) KeptWhy {
	if own := k.ownReason(row); own != "" {
		return own
	}
	if k.keeps(row) {
		return KeptBelowKept
	}
	return KeptNotADelegate
}

// keeps climbs from a row to the requested one, or to a root; one kept row on the way keeps all below it.
func (k *keeper) keeps(row *session) bool {
	var way []string
	seen := map[string]bool{}
	kept := false
	for row != nil && row.id != k.requested && !seen[row.id] {
		if answer, ok := k.known[row.id]; ok {
			kept = answer
			break
		}
		seen[row.id] = true
		way = append(way, row.id)
		if k.ownReason(row) != "" {
			kept = true
			break
		}
		row = k.graph.parent(row)
	}
	for _, id := range way {
		k.known[id] = kept
	}
	return kept
}

// ownReason is why a row stays by itself, whatever it hangs below; nothing where it does not.
func (k *keeper) ownReason(row *session) KeptWhy {
	if row.markers.branch.present {
		return KeptBranch
	}
	parent := k.graph.lineageParent(row)
	switch {
	case parent == nil:
		return ""
	case parent.ended(endCompression):
		if row.markers.delegate.present || row.hasSource(sourceSubagent) {
			return KeptWorkedForIt
		}
		return KeptContinuation
	case parent.ended(endBranched):
		started, startCertain := instant(row.startedAt)
		ended, endCertain := instant(parent.endedAt)
		if !startCertain || !endCertain || started >= ended {
			return KeptAfterBranch
		}
	}
	return ""
}

// lineageParent is the row that _delegate_from names where that marker is there, else the physical parent.
func (g *graph) lineageParent(row *session) *session {
	if !row.markers.delegate.present {
		return g.parent(row)
	}
	id, ok := row.markers.delegate.target()
	if !ok {
		return nil
	}
	return g.rows[id]
}

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
	// Title and MessageCount are there for previews only.
	Title        string
	MessageCount int
}

// holdsAny tells whether the row of one of the targets is there.
func (g *graph) holdsAny(targets []Target) bool {
	return slices.ContainsFunc(targets, func(t Target) bool { return g.rows[t.ID] != nil })
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
			return nil, err // a large family takes a while, and somebody waits for the write lock
		}
		add(id, WhyCompression)
		for _, delegate := range g.delegates(id) {
			add(delegate, WhyDelegate)
		}
	}
	return targets, nil
}

// logicalFamily grows ids to all that a newer Agent would call the same conversation (contract 5.5): continuations up
// and down, markers that a child shares with its parent being ignored, and delegates that are no branch and no reset.
func (g *graph) logicalFamily(ids []string) map[string]bool {
	family := map[string]bool{}
	queue := slices.Clone(ids)
	add := func(row *session) {
		if !family[row.id] {
			family[row.id] = true
			queue = append(queue, row.id)
		}
	}
	for _, id := range ids {
		family[id] = true
	}
	continuesLoosely := func(c, p *session) bool { return continues(c, p, c.markers.without(p.markers)) }
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if row := g.rows[id]; row != nil {
			if parent := g.parent(row); parent != nil && continuesLoosely(row, parent) {
				add(parent)
			}
			for _, child := range g.children[id] {
				if continuesLoosely(child, row) {
					add(child)
				}
			}
		}
		for _, delegate := range g.delegatedBy(id) {
			if !delegate.markers.branch.present && !delegate.markers.reset.present {
				add(delegate)
			}
		}
	}
	return family
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
	going := map[string]bool{}
	for _, t := range targets {
		going[t.ID] = true
	}
	why := map[string]KeptWhy{}
	for _, t := range targets {
		keeper := newKeeper(g, t.ID)
		for _, row := range slices.Concat(g.children[t.ID], g.marked[t.ID]) {
			if !going[row.id] && why[row.id] == "" {
				why[row.id] = keeper.why(row)
			}
		}
	}
	var kept []Kept
	for _, id := range sortedKeys(why) {
		kept = append(kept, Kept{id, why[id]})
	}
	return kept
}

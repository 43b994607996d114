package statedb

import "slices"

// This file decides which rows go with a session since they worked for it, and which stay, on the legacy path (contract 5.2).

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

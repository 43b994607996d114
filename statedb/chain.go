package statedb

// This file decides which session continues which on the legacy path (contract 5.1): functions of a graph. The canonical path has
// rules of its own, in canonical.go.

// maxHops bounds a chain (contract 5.1).
const maxHops = 1000

// continuationSlack is how long before its parent's end a continuation may have started, in seconds (contract 5.1).
const continuationSlack = 1.0

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

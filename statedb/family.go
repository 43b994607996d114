package statedb

import "slices"

// This file decides whose history the downgrade fence asks for (contract 5.5).

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

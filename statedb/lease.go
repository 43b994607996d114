package statedb

import "cmp"

// This file decides under which id the turn lease of a session is kept (contract 5c); on the canonical path that id is also the
// root of the whole conversation (contract 4).

// leaseRoot is the id under which the turn lease of a session's conversation is kept (contract 5c).
func (g *graph) leaseRoot(id string) string { return g.leaseRoots([]string{id})[id] }

// leaseRoots are those of many ids. What one climb has found out spares the next one the way.
func (g *graph) leaseRoots(ids []string) map[string]string {
	roots, known := map[string]string{}, map[string]string{}
	for _, id := range ids {
		at, way, seen := id, []string(nil), map[string]bool{}
		for known[at] == "" {
			seen[at] = true
			way = append(way, at)
			parent := g.leaseParent(at)
			if seen[parent] {
				way = nil // in a circle each id has a root of its own
			}
			if parent == "" || seen[parent] {
				break
			}
			at = parent
		}
		roots[id] = cmp.Or(known[at], at)
		for _, passed := range way {
			known[passed] = roots[id]
		}
	}
	return roots
}

// leaseParent is the parent that an id shares its lease with; nothing where it has a lease of its own.
func (g *graph) leaseParent(id string) string {
	row := g.rows[id]
	if row == nil {
		return ""
	}
	parent := g.parent(row)
	if parent == nil || !parent.ended(endCompression) || row.hasSource(sourceTool) || row.markers.anyNames(parent.id) {
		return ""
	}
	return parent.id
}

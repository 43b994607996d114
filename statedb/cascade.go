package statedb

import "session-sidecar/internal/sqlname"

// cascade is a foreign key by which a row goes with the row that it refers to. Names are as the schema spells them.
type cascade struct {
	table, column string
	to, toColumn  string
	whole         bool // the one column is the whole key
}

// own tells whether we settle what becomes of the rows that hold it.
func (c cascade) own() bool { return reference{table: c.table, column: c.column}.own() }

// cascadePath leads from a table that we know, by way of any number that we do not, to one that we know: of that one rows could go
// which belong to a session that stays.
type cascadePath []cascade

// from is the table where it begins, where rows go because of us.
func (p cascadePath) from() string { return p[0].to }

// last is the one by which rows of a table that we know would go.
func (p cascadePath) last() cascade { return p[len(p)-1] }

// cascadePaths finds all of them. through is a table on the way of one that cannot be followed row by row, since its rows go with
// each other, or by a key of many columns; it is empty where there is none.
func cascadePaths(all []cascade) (paths []cascadePath, through string) {
	by := map[string][]cascade{}
	for _, c := range all {
		if !c.own() {
			to := sqlname.Fold(c.to)
			by[to] = append(by[to], c)
		}
	}
	var follow func(path cascadePath, on map[string]bool)
	follow = func(path cascadePath, on map[string]bool) {
		at := sqlname.Fold(path.last().table)
		if _, known := ownReferences[at]; known {
			for _, c := range path {
				if !c.whole {
					through = c.table
				}
			}
			paths = append(paths, path)
			return
		}
		on[at] = true
		for _, next := range by[at] {
			if on[sqlname.Fold(next.table)] {
				if leadsToOwn(by, next.table, map[string]bool{}) {
					through = next.table
				}
				continue
			}
			follow(append(path[:len(path):len(path)], next), on)
		}
		delete(on, at)
	}
	for _, table := range sortedKeys(ownReferences) {
		for _, first := range by[table] {
			follow(cascadePath{first}, map[string]bool{})
		}
	}
	return paths, through
}

// leadsToOwn tells whether rows of a table that we know could go with rows of this one, however far away.
func leadsToOwn(by map[string][]cascade, table string, seen map[string]bool) bool {
	at := sqlname.Fold(table)
	if _, known := ownReferences[at]; known {
		return true
	}
	if seen[at] {
		return false
	}
	seen[at] = true
	for _, next := range by[at] {
		if leadsToOwn(by, next.table, seen) {
			return true
		}
	}
	return false
}

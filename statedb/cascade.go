package statedb

// cascadesBack is a table that we do not know by which rows of tables that we know could go; nothing where there is none. from gives
// whose rows go with one of a table.
func cascadesBack(from map[string][]string) (through string) {
	reached, seen := sortedKeys(ownReferences), map[string]bool{}
	for len(reached) > 0 {
		table := reached[0]
		reached = reached[1:]
		for _, next := range from[table] {
			_, known := ownReferences[next]
			_, knew := ownReferences[table]
			switch {
			case known && !knew:
				return table
			case !known && !seen[next]:
				seen[next] = true
				reached = append(reached, next)
			}
		}
	}
	return ""
}

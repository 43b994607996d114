package properties

import (
	"maps"
	"slices"
)

// legacyAfter is what contract 5.4 leaves of the store.
func (m *model) legacyAfter(ids []string) tables {
	left := tables{}
	stale := m.guards(ids, true)
	for table, rows := range m.tables {
		for _, r := range rows {
			if hangsOn(table, r, ids) {
				continue
			}
			r = maps.Clone(r)
			switch table {
			case "sessions":
				if slices.Contains(ids, textOf(r, "parent_session_id")) {
					r["parent_session_id"] = nil
				}
			case "compression_locks":
				if slices.Contains(ids, textOf(r, "session_id")) {
					continue
				}
			case "session_turn_leases":
				if slices.ContainsFunc(stale, func(s row) bool { return maps.Equal(s, r) }) {
					continue
				}
			}
			left[table] = append(left[table], r)
		}
	}
	return left
}

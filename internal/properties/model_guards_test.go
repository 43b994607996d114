package properties

import "slices"

// refusal is why ids that are to go may not: a guard, somebody at work (5b.3), or a ledger that cannot be retired (5b.4).
func (m *model) refusal(ids []string) string {
	if len(m.guards(ids, false)) > 0 || m.unsettled(ids) {
		return "active_turn"
	}
	if !m.retirable(ids) {
		return "store_unsupported"
	}
	return ""
}

// guards lists the rows of the guard tables that concern the ids: the stale ones, or the live ones.
func (m *model) guards(ids []string, stale bool) (found []row) {
	roots := map[string]bool{}
	for _, id := range ids {
		roots[m.leaseRoot(id)] = true
	}
	for _, r := range m.tables["compression_locks"] {
		if slices.Contains(ids, textOf(r, "session_id")) && isStale(r) == stale {
			found = append(found, r)
		}
	}
	for _, r := range m.tables["session_turn_leases"] {
		if roots[textOf(r, "conversation_id")] && isStale(r) == stale {
			found = append(found, r)
		}
	}
	return found
}

func isStale(guard row) bool { return guard["expires_at"] == 1.0 || guard["holder"] == deadHolder }

func (m *model) of(table, column string, ids []string) (found []row) {
	for _, r := range m.tables[table] {
		if slices.Contains(ids, textOf(r, column)) {
			found = append(found, r)
		}
	}
	return found
}

func (m *model) admissions(ids []string) []row {
	return m.of("session_admissions", "target_session_id", ids)
}

func (m *model) workers(ids []string) []row { return m.of("worker_executions", "session_id", ids) }

func (m *model) unsettled(ids []string) bool {
	return slices.ContainsFunc(slices.Concat(m.admissions(ids), m.workers(ids)), func(r row) bool { return r["status"] != "terminal" })
}

package properties

import (
	"slices"
	"unicode/utf8"
)

// modelPolicy is a local policy that is a valid one by itself.
type modelPolicy struct {
	owner, principal string
	route            any
	lineage          []string
}

// policy reads the policy of an owner; not ok where it, or its lineage, is not valid.
func (m *model) policy(owner string) (p modelPolicy, ok bool) {
	value, _ := m.meta["gateway.local_policy.v1:"+owner].(string)
	record := objectOf(value)
	if record == nil || utf8.RuneCountInString(value) > 1_000_000 || record["session_id"] != owner {
		return p, false
	}
	profile, hasProfile := record["profile_id"].(string)
	principal, hasPrincipal := record["principal_id"].(string)
	request, hasRequest := record["request_id"].(string)
	if !hasProfile || !hasPrincipal {
		return p, false
	}
	p = modelPolicy{owner: owner, principal: principal, route: record["route"]}
	if legacy, old := record["legacy_session_id"]; old {
		bound := objectOf(m.meta["gateway.local_legacy.v1:"+owner])
		want := map[string]any{"session_id": owner, "profile_id": profile, "principal_id": principal, "legacy_session_id": owner}
		if legacy != owner || jsonOf(bound) != jsonOf(want) {
			return p, false
		}
	} else if !hasRequest || owner != localID(profile, principal, request) {
		return p, false
	}
	list, listed := record["lineage"]
	if !listed {
		list = []any{owner}
	}
	elements, _ := list.([]any)
	for _, e := range elements {
		id, _ := e.(string)
		if id == "" || slices.Contains(p.lineage, id) {
			return p, false
		}
		p.lineage = append(p.lineage, id)
	}
	entry, _ := record["entry"].(map[string]any)
	return p, len(p.lineage) > 0 && p.lineage[0] == owner && p.lineage[len(p.lineage)-1] == entry["session_id"] && m.chained(p.lineage)
}

// chained tells whether each member of a lineage goes on in the next one, and the last in none.
func (m *model) chained(lineage []string) bool {
	for i, id := range lineage {
		before, r := m.sessions[id], row(nil)
		if i == len(lineage)-1 {
			return m.preferred(id) == ""
		}
		r = m.sessions[lineage[i+1]]
		if before == nil || r == nil || r["parent_session_id"] != id {
			return false
		}
		reset := m.config(r).python.reset
		byReset := before["end_reason"] == "session_reset" && reset != nil && *reset == id
		if !byReset && m.preferred(id) != lineage[i+1] {
			return false
		}
	}
	return false
}

// members tells whether the rows of a policy's members are what it says.
func (m *model) members(p modelPolicy) bool {
	if _, ok := p.route.(string); !ok {
		return false
	}
	for i, id := range p.lineage {
		r := m.sessions[id]
		if r == nil || r["chat_id"] != p.owner || r["user_id"] != p.principal || r["session_key"] != p.route || !m.config(r).readable {
			return false
		}
		markers := m.config(r).python
		if i > 0 && (r["source"] == "tool" || markers.branch != nil || markers.delegate != nil) {
			return false
		}
	}
	return true
}

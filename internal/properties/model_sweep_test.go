package properties

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// swept is what a sweep has to do, by contract 5d.
type swept struct {
	ids     []string
	skipped map[string][]string // an id -> its reasons, of which one is told
	units   map[string][]string // an id -> those that go only with it
	expires func(id string) bool
}

// sweep decides for each id, in the order asked for: a local conversation goes whole or not at all.
func (m *model) sweep(asked []string) swept {
	s := swept{skipped: map[string][]string{}}
	units, derived := m.units(asked)
	s.units = units
	s.expires = func(id string) bool { return !derived[id] }
	for _, id := range asked {
		if reasons := m.unsweepable(id, units[id], asked); len(reasons) > 0 {
			s.skipped[id] = reasons
		} else if !slices.Contains(s.ids, id) {
			s.ids = append(s.ids, id)
		}
	}
	return s
}

func (m *model) unsweepable(id string, unit []string, asked []string) []string {
	if reasons := m.ownReasons(id); len(reasons) > 0 {
		return reasons
	}
	for _, other := range unit {
		if !slices.Contains(asked, other) || len(m.ownReasons(other)) > 0 {
			return []string{"conversation_incomplete"}
		}
	}
	if !m.retirable(unit) {
		// Nobody has to tell whose record it was.
		return []string{"store_unsupported", "conversation_incomplete"}
	}
	return nil
}

// ownReasons are why an id is left alone whatever becomes of others.
func (m *model) ownReasons(id string) (reasons []string) {
	if len(m.guards([]string{id}, false)) > 0 || m.unsettled([]string{id}) {
		reasons = append(reasons, "active_turn")
	}
	for _, owner := range []string{id, textOf(m.sessions[id], "chat_id")} {
		value, there := m.meta["gateway.local_policy.v1:"+owner]
		if there && owner != "" && objectOf(value) == nil {
			reasons = append(reasons, "receipt_invalid") // nobody can tell what else belongs to it
		}
	}
	return reasons
}

var apiID = regexp.MustCompile(`^api-[0-9a-f]{16}$`)

// units tells which ids stand or fall with each of those asked for, and whose tombstones never expire.
func (m *model) units(asked []string) (unitOf map[string][]string, derived map[string]bool) {
	unitOf, derived = map[string][]string{}, map[string]bool{}
	for _, id := range asked {
		unitOf[id] = []string{id}
		r := m.sessions[id]
		derived[id] = r["source"] == "bot_room" || (r["source"] == "api_server" && apiID.MatchString(id))
	}
	for key, value := range m.meta {
		record := objectOf(value)
		if !strings.HasPrefix(key, "gateway.local_policy.v1:") || record == nil {
			continue
		}
		ids := policyIDs(record)
		if !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(asked, id) }) {
			continue
		}
		request, _ := record["request_id"].(string)
		if strings.HasPrefix(request, "bot-chat:") || strings.HasPrefix(request, "a2a:") {
			for _, id := range ids {
				derived[id] = true
			}
		}
		whole := slices.Clone(ids)
		for _, id := range ids {
			whole = append(whole, unitOf[id]...)
		}
		slices.Sort(whole)
		whole = slices.Compact(whole)
		for _, id := range whole {
			unitOf[id] = whole
		}
	}
	maps.DeleteFunc(unitOf, func(id string, _ []string) bool { return !slices.Contains(asked, id) })
	return unitOf, derived
}

// leasedItself tells whether a live lease lies under one of the ids itself.
func (m *model) leasedItself(ids []string) bool {
	return slices.ContainsFunc(m.of("session_turn_leases", "conversation_id", ids), func(r row) bool { return !isStale(r) })
}

// policyIDs are all that a policy names, whether it holds or not.
func policyIDs(record map[string]any) (ids []string) {
	add := func(value any) {
		if id, _ := value.(string); id != "" {
			ids = append(ids, id)
		}
	}
	add(record["session_id"])
	lineage, listed := record["lineage"].([]any)
	for _, id := range lineage {
		add(id)
	}
	if _, there := record["lineage"]; !listed && !there {
		add(record["session_id"])
	}
	entry, _ := record["entry"].(map[string]any)
	add(entry["session_id"])
	return ids
}

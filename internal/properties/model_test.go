package properties

import (
	"maps"
	"slices"
)

// hangingTable is a table whose rows are of one session each, and go with it on either path (contract 5.4).
type hangingTable struct {
	table, id string // id is the column that names the session
	number    string // the column that numbers the rows, if one does: they come back under new numbers
	back      bool   // its rows come back from the trash (contract 10.1)
}

var hanging = []hangingTable{
	{table: "sessions", id: "id", back: true},
	{table: "messages", id: "session_id", number: "id", back: true},
	{table: "session_model_usage", id: "session_id", back: true},
	{table: "telegram_dm_topic_bindings", id: "session_id"},
}

// hangsOn tells whether a row goes because its session does.
func hangsOn(table string, r row, ids []string) bool {
	return slices.ContainsFunc(hanging, func(t hangingTable) bool { return t.table == table && slices.Contains(ids, textOf(r, t.id)) })
}

// model says what the contract makes of a store. It reads tables, and how the store's configs read.
type model struct {
	tables   tables
	configs  map[string]config
	sessions map[string]row
	meta     map[string]any
	python   bool // on the legacy path the markers are read as Python does
}

func newModel(t tables, configs map[string]config) *model {
	m := &model{tables: t, configs: configs, sessions: map[string]row{}, meta: map[string]any{}}
	for _, r := range t["sessions"] {
		m.sessions[r["id"].(string)] = r
	}
	for _, r := range t["state_meta"] {
		m.meta[r["key"].(string)] = r["value"]
	}
	return m
}

func textOf(r row, column string) string {
	text, _ := r[column].(string)
	return text
}

func (m *model) config(r row) config {
	if r["model_config"] == nil {
		return config{readable: true}
	}
	return m.configs[r["model_config"].(string)]
}

func (m *model) markers(r row) reading {
	if m.python {
		return m.config(r).python
	}
	return m.config(r).sqlite
}

func (r reading) any() bool { return r.delegate != nil || r.branch != nil || r.reset != nil }

func (r reading) names(id string) bool {
	return slices.ContainsFunc([]*string{r.delegate, r.branch, r.reset}, func(m *string) bool { return m != nil && *m == id })
}

func (m *model) children(id string) (children []row) {
	for _, r := range m.tables["sessions"] {
		if r["parent_session_id"] == id {
			children = append(children, r)
		}
	}
	return children
}

// leaseRoot is contract 5c.
func (m *model) leaseRoot(id string) string {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		child := m.sessions[id]
		parent := m.sessions[textOf(child, "parent_session_id")]
		if child == nil || parent == nil || parent["end_reason"] != "compression" || child["source"] == "tool" ||
			m.markers(child).names(textOf(parent, "id")) || seen[textOf(parent, "id")] {
			return id
		}
		id = textOf(parent, "id")
	}
	return id
}

// resolve is contract 5b.1 and 5b.2: deleted_ids, or why there are none.
func (m *model) resolve(requested string, whole bool) (ids []string, reason string) {
	root := requested
	if whole {
		root = m.leaseRoot(requested)
	}
	owner := root
	if chat := textOf(m.sessions[root], "chat_id"); chat != "" && m.has("gateway.local_policy.v1:"+chat) {
		p, ok := m.policy(chat)
		if !ok || !m.members(p) {
			return nil, "receipt_invalid"
		}
		if slices.Contains(p.lineage, root) {
			owner = chat
		}
	}
	set := map[string]bool{owner: true, root: true}
	if m.has("gateway.local_policy.v1:" + owner) {
		p, ok := m.policy(owner)
		if !ok {
			return nil, "receipt_invalid"
		}
		for _, id := range p.lineage {
			set[id] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for id := range set {
			if next := m.continuations(id); len(next) > 1 || len(next) == 1 && m.disputed(next[0], id) {
				return nil, "lineage_ambiguous"
			}
			for _, next := range slices.Concat(m.continuations(id), m.delegates(id)) {
				grown = grown || !set[next]
				set[next] = true
			}
		}
	}
	if !set[requested] {
		return nil, "lineage_ambiguous"
	}
	delete(set, root)
	return append([]string{root}, sorted(set)...), ""
}

func (m *model) continuations(id string) (ids []string) {
	if m.sessions[id] == nil || m.sessions[id]["end_reason"] != "compression" {
		return nil
	}
	for _, child := range m.children(id) {
		if child["source"] != "tool" && !m.markers(child).names(id) {
			ids = append(ids, textOf(child, "id"))
		}
	}
	return ids
}

// disputed tells of a child whose config is no JSON to SQLite, and to Python names the parent in a marker. (Of a key that stands
// there twice SQLite takes the first and Python the last, be the first null: that is a reading, and SQLite's counts.)
func (m *model) disputed(child, parent string) bool {
	c := m.config(m.sessions[child])
	return c.unread && c.python.names(parent)
}

func (m *model) delegates(id string) (ids []string) {
	for _, r := range m.tables["sessions"] {
		marker := m.markers(r).delegate
		if marker != nil && (*marker == id || r["parent_session_id"] == id) {
			ids = append(ids, textOf(r, "id"))
		}
	}
	return ids
}

func (m *model) has(key string) bool {
	_, there := m.meta[key]
	return there
}

// preferred is the preferred continuation of contract 5b.1; empty where there is none.
func (m *model) preferred(id string) string {
	if m.sessions[id] == nil || m.sessions[id]["end_reason"] != "compression" {
		return ""
	}
	type candidate struct {
		rank              int
		activity, started float64
		id                string
	}
	best := candidate{rank: 3}
	for _, child := range m.children(id) {
		if m.config(child).python.any() || child["source"] == "tool" {
			continue
		}
		c := candidate{rank: 2, started: counted(child["started_at"]), id: textOf(child, "id")}
		switch {
		case child["end_reason"] == "compression":
			c.rank = 0
		case child["ended_at"] == nil:
			c.rank = 1
		}
		c.activity = counted(child["last_activity_at"])
		for _, message := range m.tables["messages"] {
			if message["session_id"] == c.id {
				c.activity = max(c.activity, counted(message["timestamp"]))
			}
		}
		if c.activity == none {
			c.activity = c.started
		}
		better := c.rank < best.rank
		if c.rank == best.rank {
			better = slices.Compare([]float64{c.activity, c.started}, []float64{best.activity, best.started}) > 0 ||
				(c.activity == best.activity && c.started == best.started && c.id > best.id)
		}
		if better {
			best = c
		}
	}
	return best.id
}

const none = -1e301 // a time that does not count

func counted(value any) float64 {
	if f, ok := value.(float64); ok && f >= -62135596800 && f <= 253402300800 {
		return f
	}
	return none
}

func sorted(set map[string]bool) []string {
	return slices.Sorted(maps.Keys(set))
}

package statedb

import "slices"

// What the store says of the sessions in question, as it was read before: who is whose parent, and whom the markers name. Both paths
// decide by it.

const (
	endCompression = "compression"
	endCLIClose    = "cli_close"
	endBranched    = "branched"
	sourceTool     = "tool"
	sourceSubagent = "subagent"
	sourceFork     = "fork"
)

// session is what the lineage needs of a row of sessions. Columns that an old store lacks read as NULL.
type session struct {
	id            string
	parent        *string
	source        *string
	sessionSource *string
	endReason     *string
	chatID        *string
	startedAt     any // nil, int64, float64 or string
	endedAt       any
	markers       markers
	// disputed tells, on the canonical path, of a model_config that is JSON to the Agent's Python and not to SQLite, and that to
	// Python has a marker naming the parent, as a user's branch with a NaN beside it does. By the contract no marker is read there.
	disputed bool
}

func (s *session) ended(reason string) bool { return s.endReason != nil && *s.endReason == reason }

func (s *session) hasSource(source string) bool { return s.source != nil && *s.source == source }

// graph is the part of the store that surrounds the ids in question: their rows, and who points at whom.
type graph struct {
	rows     map[string]*session
	children map[string][]*session // by physical parent
	// marked holds the rows whose _delegate_from names an id other than their physical parent, by the id it names.
	marked map[string][]*session
}

func newGraph() *graph {
	return &graph{rows: map[string]*session{}, children: map[string][]*session{}, marked: map[string][]*session{}}
}

// add enters a row, but for its markers.
func (g *graph) add(row *session) {
	g.rows[row.id] = row
	if row.parent != nil {
		g.children[*row.parent] = append(g.children[*row.parent], row)
	}
}

// parent gives a row's physical parent where both are there.
func (g *graph) parent(s *session) *session {
	if s.parent == nil {
		return nil
	}
	return g.rows[*s.parent]
}

// lineageParent is the row that _delegate_from names where that marker is there, else the physical parent.
func (g *graph) lineageParent(row *session) *session {
	if !row.markers.delegate.present {
		return g.parent(row)
	}
	id, ok := row.markers.delegate.target()
	if !ok {
		return nil
	}
	return g.rows[id]
}

// holdsAny tells whether the row of one of the targets is there.
func (g *graph) holdsAny(targets []Target) bool {
	return slices.ContainsFunc(targets, func(t Target) bool { return g.rows[t.ID] != nil })
}

// chatIDs are those that the rows of some ids belong to.
func (g *graph) chatIDs(ids []string) []string {
	var chats []string
	for _, id := range ids {
		if row := g.rows[id]; row != nil && row.chatID != nil && *row.chatID != "" {
			chats = append(chats, *row.chatID)
		}
	}
	return chats
}

// linkMarkers enters the rows whose _delegate_from names an id other than their physical parent.
func (g *graph) linkMarkers() {
	for _, row := range g.rows {
		if target, ok := row.markers.delegate.target(); ok && (row.parent == nil || *row.parent != target) {
			g.marked[target] = append(g.marked[target], row)
		}
	}
}

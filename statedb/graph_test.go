package statedb

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the tests of the lineage make their graphs from.

type change func(*session)

// row is a session below a parent, or a root where the parent is empty. It started at 100 and is open.
func row(id, parent string, changes ...change) *session {
	s := &session{id: id, source: new("cli"), startedAt: 100.0, markers: markers{readable: true}}
	if parent != "" {
		s.parent = &parent
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

// ended closes a session at 100, so that a child which row makes continues it.
func ended(reason string) change {
	return func(s *session) { s.endReason, s.endedAt = &reason, 100.0 }
}

func endedAt(at any) change            { return func(s *session) { s.endedAt = at } }
func startedAt(at any) change          { return func(s *session) { s.startedAt = at } }
func source(name string) change        { return func(s *session) { s.source = &name } }
func sessionSource(name string) change { return func(s *session) { s.sessionSource = &name } }
func delegateOf(id string) change      { return func(s *session) { s.markers.delegate = names(id) } }

func branchOf(id string) change { return func(s *session) { s.markers.branch = names(id) } }

func resetOf(id string) change { return func(s *session) { s.markers.reset = names(id) } }
func disputed(s *session)      { s.disputed = true }
func unreadableConfig() change { return func(s *session) { s.markers = markers{} } }
func delegateMarker(value any) change {
	return func(s *session) { s.markers.delegate = marker{true, value} }
}
func noSource(s *session)   { s.source = nil }
func compressed(s *session) { ended(endCompression)(s) }
func subagent(s *session)   { source(sourceSubagent)(s) }
func closed(s *session)     { ended(endCLIClose)(s) }
func all(changes ...change) change {
	return func(s *session) {
		for _, c := range changes {
			c(s)
		}
	}
}

// graphFrom links rows as the reader does.
func graphFrom(rows ...*session) *graph {
	g := &graph{rows: map[string]*session{}, children: map[string][]*session{}, marked: map[string][]*session{}}
	for _, s := range rows {
		g.rows[s.id] = s
		if s.parent != nil {
			g.children[*s.parent] = append(g.children[*s.parent], s)
		}
		if target, ok := s.markers.delegate.target(); ok && (s.parent == nil || *s.parent != target) {
			g.marked[target] = append(g.marked[target], s)
		}
	}
	return g
}

func idsOf(targets []Target) []string {
	ids := make([]string, len(targets))
	for i, t := range targets {
		ids[i] = t.ID
	}
	return ids
}

// targetsOf is graph.targets without a cancel.
func targetsOf(t *testing.T, g *graph, start, requested string, withChain bool) []Target {
	t.Helper()
	targets, err := g.targets(t.Context(), start, requested, withChain)
	require.NoError(t, err)
	return targets
}

func TestTargetsHearACancel(t *testing.T) {
	g := graphFrom(row("a", ""))
	_, err := g.targets(cancelled(t), "a", "a", true)
	require.ErrorIs(t, err, context.Canceled)
}

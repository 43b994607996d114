package statedb

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

func TestContinuations(t *testing.T) {
	for name, c := range map[string]struct {
		parent, child *session
		want          bool
	}{
		"after a compression":              {row("p", "", compressed), row("c", "p"), true},
		"after the CLI was closed":         {row("p", "", closed), row("c", "p"), false},
		"of one that is open":              {row("p", ""), row("c", "p"), false},
		"a tool":                           {row("p", "", compressed), row("c", "p", source(sourceTool)), false},
		"of another source":                {row("p", "", compressed), row("c", "p", source("tui")), true},
		"that started long before the end": {row("p", "", compressed, endedAt(1e9)), row("c", "p"), true},
		"a fork by its session_source":     {row("p", "", compressed), row("c", "p", sessionSource(sourceFork)), true},
		"that works for the parent":        {row("p", "", compressed), row("c", "p", delegateOf("p")), false},
		"that branched off the parent":     {row("p", "", compressed), row("c", "p", branchOf("p")), false},
		"that was reset from the parent":   {row("p", "", compressed), row("c", "p", resetOf("p")), false},
		"with inherited markers":           {row("p", "", compressed), row("c", "p", delegateOf("x"), branchOf("y"), resetOf("z")), true},
		"with a marker that is no text":    {row("p", "", compressed), row("c", "p", delegateMarker(int64(0))), true},
	} {
		g := graphFrom(c.parent, c.child)
		assert.Equal(t, c.want, len(g.continuations(c.parent)) == 1, name)
	}
	assert.Empty(t, graphFrom().continuations(nil), "of a row that is not there")
}

func TestDelegatesOf(t *testing.T) {
	g := graphFrom(row("p", ""),
		row("marked", "elsewhere", delegateOf("p")), row("child", "p", delegateOf("p")), row("inherited", "p", delegateOf("x")),
		row("notext", "p", delegateMarker(int64(0))), row("plain", "p"), row("subagent", "p", subagent), row("branch", "p", branchOf("p")))
	assert.ElementsMatch(t, []string{"marked", "child", "inherited", "notext"}, g.delegatesOf("p"))
}

func TestConversationGrowsToAFixedPoint(t *testing.T) {
	g := graphFrom(
		row("a", "", compressed), row("b", "a", compressed), row("c", "b"),
		row("d", "b", delegateOf("b"), compressed), // works for b; what continues it goes on working
		row("d2", "d"),
		row("e", "", delegateOf("d2")),
		row("branch", "b", branchOf("b")), row("below", "branch"),
		row("loop", "c", delegateOf("loop")), // works for itself
	)
	why, err := g.conversation(t.Context(), []string{"a"})
	require.NoError(t, err)
	assert.Equal(t, map[string]Why{
		"a": WhyLineage, "b": WhyCompression, "c": WhyCompression, "d": WhyDelegate, "d2": WhyCompression, "e": WhyDelegate,
		"loop": WhyDelegate,
	}, why)

	targets, err := inOrder(why, "b", "d")
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a", "c", "d", "d2", "e", "loop"}, idsOf(targets))
	assert.Equal(t, WhyCompression, targets[0].Why)
	assert.Equal(t, WhyRequested, targets[3].Why)
	_, err = inOrder(why, "a", "branch")
	require.ErrorIs(t, err, ErrLineageAmbiguous)

	assert.Equal(t, []Kept{{"branch", KeptBranch}}, g.keptChildren(targets))
}

func TestConversationIsAmbiguous(t *testing.T) {
	g := graphFrom(row("a", "", compressed), row("c", "a"), row("b", "a"))
	_, err := g.conversation(t.Context(), []string{"a"})
	require.ErrorIs(t, err, ErrLineageAmbiguous)
	assert.Contains(t, err.Error(), "session a is continued by b and by c")

	g = graphFrom(row("a", "", compressed), row("b", "a", disputed))
	_, err = g.conversation(t.Context(), []string{"a"})
	require.ErrorIs(t, err, ErrLineageAmbiguous)
	assert.Contains(t, err.Error(), "session b may continue a or not")
	_, err = g.conversation(t.Context(), []string{"b"})
	require.NoError(t, err, "from it downwards it is certain")

	// What would not continue it anyway is no doubt.
	for name, child := range map[string]*session{"a tool": row("b", "a", disputed, source(sourceTool)), "a child": row("b", "c", disputed)} {
		why, err := graphFrom(row("a", "", compressed), row("c", ""), child).conversation(t.Context(), []string{"a", "c"})
		require.NoError(t, err, name)
		assert.NotContains(t, why, "b", name)
	}

	_, err = graphFrom(row("a", ""), row("b", "a", delegateOf("a"))).conversation(cancelled(t), []string{"a"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestKeptChildren(t *testing.T) {
	g := graphFrom(row("p", ""), row("gone", "p", delegateOf("p")), row("reset", "p", resetOf("p")), row("plain", "p"),
		row("branch", "p", branchOf("p"), resetOf("p")), row("other", "x"))
	assert.Equal(t, []Kept{{"branch", KeptBranch}, {"plain", KeptNotADelegate}, {"reset", KeptReset}},
		g.keptChildren([]Target{{ID: "p"}, {ID: "gone"}}))
}

// TestRepeatedMarkerIsReadAsSQLiteReadsIt shows that a key that stands there twice is no doubt: SQLite takes the first, be it
// null, and that counts (contract 5b.2). Only text that is no JSON to SQLite leaves one.
func TestRepeatedMarkerIsReadAsSQLiteReadsIt(t *testing.T) {
	for config, kind := range map[string]error{
		`{"_delegate_from": null, "_delegate_from": "a"}`:           nil,
		`{"_branched_from": "x", "_branched_from": "a"}`:            nil,
		`{"n": NaN, "_delegate_from": null, "_reset_from": "a"}`:    ErrLineageAmbiguous,
		`{"n": NaN, "_delegate_from": "x", "_delegate_from": null}`: nil,
	} {
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at, end_reason) VALUES ('a', 'cli', 1, 'compression')`,
			`INSERT INTO sessions (id, source, started_at, parent_session_id, model_config) VALUES ('b', 'cli', 2, 'a', '`+config+`')`)
		plan, err := begin(t, home).Plan(t.Context(), Request{SessionID: "a"})
		if kind != nil {
			require.ErrorIs(t, err, kind, config)
			continue
		}
		require.NoError(t, err, config)
		require.Equal(t, []string{"a", "b"}, plan.IDs(), config)
	}
}

package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTargetsInOrder(t *testing.T) {
	g := graphFrom(
		row("a", "", compressed), row("b", "a", compressed), row("c", "b"),
		row("a2", "a", startedAt(1.0), delegateOf("a")), // below a compressed parent: kept
		row("c3", "c", subagent), row("c2", "", delegateOf("c")), row("c1", "c3", subagent),
		row("b1", "", delegateOf("b")),
	)
	assert.Equal(t, []Target{
		{ID: "c", Why: WhyCompression},
		{ID: "c1", Why: WhyDelegate},
		{ID: "c2", Why: WhyDelegate},
		{ID: "c3", Why: WhyDelegate},
		{ID: "b", Why: WhyCompression},
		{ID: "a", Why: WhyRequested},
	}, targetsOf(t, g, "a", "a", true))
	assert.Equal(t, []string{"c", "c1", "c2", "c3", "b"}, idsOf(targetsOf(t, g, "b", "b", true)))
	assert.Equal(t, []Target{{ID: "c", Why: WhyRequested}, {ID: "c1", Why: WhyDelegate}, {ID: "c2", Why: WhyDelegate}, {ID: "c3", Why: WhyDelegate}},
		targetsOf(t, g, "c", "c", false))
	assert.Equal(t, []Target{{ID: "a", Why: WhyRequested}}, targetsOf(t, g, "a", "a", false), "the chain only goes where it is asked for")
	assert.Equal(t, []Target{
		{ID: "c", Why: WhyCompression},
		{ID: "c1", Why: WhyDelegate},
		{ID: "c2", Why: WhyDelegate},
		{ID: "c3", Why: WhyDelegate},
		{ID: "b", Why: WhyRequested},
		{ID: "a", Why: WhyCompression},
	}, targetsOf(t, g, "a", "b", true), "the requested one is named wherever it stands")
	assert.Equal(t, []Target{{ID: "lost", Why: WhyRequested}}, targetsOf(t, g, "lost", "lost", true))
}

func TestAnIDCountsOnce(t *testing.T) {
	// b goes on after a and, as a subagent below it, works for it too: b and what works for b stand where they come first.
	g := graphFrom(row("a", "", subagent, closed), row("b", "a", subagent), row("d", "b", subagent), row("e", "", delegateOf("a")))
	assert.Equal(t, []Target{
		{ID: "b", Why: WhyCompression},
		{ID: "d", Why: WhyDelegate},
		{ID: "a", Why: WhyRequested},
		{ID: "e", Why: WhyDelegate},
	}, targetsOf(t, g, "a", "a", true))
	g = graphFrom(row("a", "", closed, delegateOf("b")), row("b", "a", delegateOf("a")))
	assert.Equal(t, []string{"a", "b"}, idsOf(targetsOf(t, g, "a", "a", true)), "two that name each other")
}

package statedb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChain(t *testing.T) {
	for name, test := range map[string]struct {
		rows []*session
		want []string
	}{
		"no row at all":           {nil, []string{"a"}},
		"one that stands alone":   {[]*session{row("a", "")}, []string{"a"}},
		"to the tip":              {[]*session{row("a", "", compressed), row("b", "a", closed), row("c", "b")}, []string{"a", "b", "c"}},
		"downwards only":          {[]*session{row("z", "", compressed), row("a", "z", compressed), row("b", "a")}, []string{"a", "b"}},
		"past those that do not":  {[]*session{row("a", "", compressed), row("b", "a"), row("d", "a", delegateOf("a")), row("t", "a", source("tool"))}, []string{"a", "b"}},
		"two stop it":             {[]*session{row("a", "", compressed), row("b", "a", compressed), row("c", "b"), row("d", "b")}, []string{"a", "b"}},
		"two at once":             {[]*session{row("a", "", compressed), row("b", "a"), row("c", "a")}, []string{"a"}},
		"an end that goes on not": {[]*session{row("a", "", compressed), row("b", "a", ended("done")), row("c", "b")}, []string{"a", "b"}},
		"a circle":                {[]*session{row("a", "c", compressed), row("b", "a", compressed), row("c", "b", compressed)}, []string{"a", "b", "c"}},
		"its own child":           {[]*session{row("a", "a", compressed)}, []string{"a"}},
		"a child of a lost row":   {[]*session{row("b", "a")}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, graphOf(test.rows...).chain("a")) })
	}
}

// longChain is a chain of n rows named 0 to n-1.
func longChain(n int) *graph {
	rows := []*session{row("0", "", compressed)}
	for i := 1; i < n; i++ {
		rows = append(rows, row(fmt.Sprint(i), fmt.Sprint(i-1), compressed))
	}
	return graphOf(rows...)
}

func TestChainIsBounded(t *testing.T) {
	assert.Len(t, longChain(999).chain("0"), 999)
	assert.Len(t, longChain(1001).chain("0"), 1001, "a thousand hops")
	long := longChain(1500)
	chain := long.chain("0")
	assert.Len(t, chain, 1001)
	assert.Equal(t, "1000", chain[1000])
	assert.Equal(t, []string{"1498", "1499"}, long.chain("1498"))
}

func TestFirstSegment(t *testing.T) {
	for name, test := range map[string]struct {
		rows []*session
		want string
	}{
		"no row at all":             {nil, "c"},
		"a root":                    {[]*session{row("c", "")}, "c"},
		"all the way up":            {[]*session{row("a", "", compressed), row("b", "a", closed), row("c", "b")}, "a"},
		"up to a branch":            {[]*session{row("a", "", compressed), row("b", "a", compressed, branchOf("a")), row("c", "b")}, "b"},
		"a lost parent":             {[]*session{row("c", "b")}, "c"},
		"a parent that went on not": {[]*session{row("b", "", ended("done")), row("c", "b")}, "c"},
		"whatever else continues":   {[]*session{row("b", "", compressed), row("c", "b"), row("d", "b")}, "b"},
		"a circle":                  {[]*session{row("a", "c", compressed), row("b", "a", compressed), row("c", "b", compressed)}, "a"},
		"its own parent":            {[]*session{row("c", "c", compressed)}, "c"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, graphOf(test.rows...).firstSegment("c")) })
	}
	assert.Equal(t, "0", longChain(1500).firstSegment("1499"), "the way up has no bound")
}

func TestTargetsInOrder(t *testing.T) {
	g := graphOf(
		row("a", "", compressed), row("b", "a", compressed), row("c", "b"),
		row("a2", "a", startedAt(1.0), delegateOf("a")), // below a compressed parent: kept
		row("c3", "c", subagent), row("c2", "", delegateOf("c")), row("c1", "c3", subagent),
		row("b1", "", delegateOf("b")),
	)
	assert.Equal(t, []Target{
		{"c", WhyCompression},
		{"c1", WhyDelegate},
		{"c2", WhyDelegate},
		{"c3", WhyDelegate},
		{"b", WhyCompression},
		{"a", WhyRequested},
	}, g.targets("a", "a", true))
	assert.Equal(t, []string{"c", "c1", "c2", "c3", "b"}, idsOf(g.targets("b", "b", true)))
	assert.Equal(t, []Target{{"c", WhyRequested}, {"c1", WhyDelegate}, {"c2", WhyDelegate}, {"c3", WhyDelegate}},
		g.targets("c", "c", false))
	assert.Equal(t, []Target{{"a", WhyRequested}}, g.targets("a", "a", false), "the chain only goes where it is asked for")
	assert.Equal(t, []Target{
		{"c", WhyCompression},
		{"c1", WhyDelegate},
		{"c2", WhyDelegate},
		{"c3", WhyDelegate},
		{"b", WhyRequested},
		{"a", WhyCompression},
	}, g.targets("a", "b", true), "the requested one is named wherever it stands")
	assert.Equal(t, []Target{{"lost", WhyRequested}}, g.targets("lost", "lost", true))
}

func TestAnIDCountsOnce(t *testing.T) {
	// d works for b, and what works for d works for b and for a: each id stands where it comes first.
	g := graphOf(row("a", "", closed), row("b", "a"), row("d", "", delegateOf("b")), row("e", "", delegateOf("d")), row("f", "e", subagent))
	assert.Equal(t, []string{"b", "d", "e", "f", "a"}, idsOf(g.targets("a", "a", true)))
	g = graphOf(row("a", "", closed, delegateOf("b")), row("b", "a", delegateOf("a")))
	assert.Equal(t, []string{"a", "b"}, idsOf(g.targets("a", "a", true)), "two that name each other")
}

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
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, graphFrom(test.rows...).chain("a")) })
	}
}

// longChain is a chain of n rows named 0 to n-1.
func longChain(n int) *graph {
	rows := []*session{row("0", "", compressed)}
	for i := 1; i < n; i++ {
		rows = append(rows, row(fmt.Sprint(i), fmt.Sprint(i-1), compressed))
	}
	return graphFrom(rows...)
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
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, graphFrom(test.rows...).firstSegment("c")) })
	}
	assert.Equal(t, "0", longChain(1500).firstSegment("1499"), "the way up has no bound")
}

package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Contract 5c: the id under which the turn lease of s is kept.
func TestLeaseRoot(t *testing.T) {
	for name, test := range map[string]struct {
		rows []*session
		want string
	}{
		"no row at all":               {nil, "s"},
		"a root":                      {[]*session{row("s", "")}, "s"},
		"a lost parent":               {[]*session{row("s", "p")}, "s"},
		"up to the first":             {[]*session{row("a", "", compressed), row("b", "a", compressed), row("s", "b")}, "a"},
		"the parent was closed":       {[]*session{row("p", "", closed), row("s", "p")}, "s"},
		"the parent is open":          {[]*session{row("p", ""), row("s", "p")}, "s"},
		"a tool":                      {[]*session{row("p", "", compressed), row("s", "p", source("tool"))}, "s"},
		"a tool further up":           {[]*session{row("a", "", compressed), row("b", "a", compressed, source("tool")), row("s", "b")}, "b"},
		"a delegate of the parent":    {[]*session{row("p", "", compressed), row("s", "p", delegateOf("p"))}, "s"},
		"a branch of the parent":      {[]*session{row("p", "", compressed), row("s", "p", branchOf("p"))}, "s"},
		"a reset of the parent":       {[]*session{row("p", "", compressed), row("s", "p", resetOf("p"))}, "s"},
		"a delegate of another":       {[]*session{row("p", "", compressed), row("s", "p", delegateOf("x"))}, "p"},
		"a branch of another":         {[]*session{row("p", "", compressed), row("s", "p", branchOf("x"))}, "p"},
		"a marker that names no row":  {[]*session{row("p", "", compressed), row("s", "p", delegateMarker(5.0))}, "p"},
		"another source and any time": {[]*session{row("p", "", compressed, endedAt(1e12)), row("s", "p", source("telegram"))}, "p"},
		"a fork":                      {[]*session{row("p", "", compressed), row("s", "p", sessionSource("fork"))}, "p"},
		"a circle":                    {[]*session{row("a", "s", compressed), row("b", "a", compressed), row("s", "b", compressed)}, "a"},
		"its own parent":              {[]*session{row("s", "s", compressed)}, "s"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, graphFrom(test.rows...).leaseRoot("s")) })
	}
	assert.Equal(t, "0", longChain(1500).leaseRoot("1499"))
}

// In a circle the root depends on where one begins, and no climb may take another one's answer.
func TestLeaseRootsAreThoseOfEachAlone(t *testing.T) {
	g := graphFrom(row("a", "c", compressed), row("b", "a", compressed), row("c", "b", compressed), row("d", "c"), row("e", "d"),
		row("r", "", compressed), row("s", "r", compressed), row("t", "s"), row("u", "s", branchOf("s")), row("tool", "t", source(sourceTool)))
	ids := []string{"t", "s", "r", "u", "a", "b", "c", "d", "e", "absent", "tool"}
	roots := g.leaseRoots(ids)
	for _, id := range ids {
		assert.Equal(t, g.leaseRoot(id), roots[id], id)
	}
	assert.Equal(t, map[string]string{
		"t": "r", "s": "r", "r": "r", "u": "u", "a": "b", "b": "c", "c": "a", "d": "a", "e": "e", "absent": "absent", "tool": "tool",
	}, roots)
}

package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Contract 5.5: the logical family of s.
func TestLogicalFamily(t *testing.T) {
	for name, test := range map[string]struct {
		rows []*session
		want []string
	}{
		"no row at all":         {nil, []string{"s"}},
		"up and down":           {[]*session{row("a", "", compressed), row("s", "a", closed), row("c", "s", closed), row("d", "c")}, []string{"a", "c", "d", "s"}},
		"to all that continue":  {[]*session{row("s", "", compressed), row("c", "s"), row("d", "s")}, []string{"c", "d", "s"}},
		"not to what goes on":   {[]*session{row("a", "", ended("done")), row("s", "a", ended("done")), row("c", "s")}, []string{"s"}},
		"up, then down again":   {[]*session{row("a", "", compressed), row("s", "a"), row("c", "a")}, []string{"a", "c", "s"}},
		"a shared delegate":     {[]*session{row("a", "", compressed, delegateOf("x")), row("s", "a", delegateOf("x"))}, []string{"a", "s"}},
		"a shared branch":       {[]*session{row("s", "", compressed, branchOf("x")), row("c", "s", branchOf("x"))}, []string{"c", "s"}},
		"a shared reset":        {[]*session{row("s", "", compressed, resetOf("x")), row("c", "s", resetOf("x"))}, []string{"c", "s"}},
		"another branch":        {[]*session{row("s", "", compressed, branchOf("x")), row("c", "s", branchOf("s"))}, []string{"s"}},
		"a branch of its own":   {[]*session{row("s", "", compressed), row("c", "s", branchOf("x"))}, []string{"s"}},
		"the parent's marker":   {[]*session{row("s", "", compressed, branchOf("x")), row("c", "s")}, []string{"c", "s"}},
		"one of two is shared":  {[]*session{row("s", "", compressed, branchOf("x")), row("c", "s", branchOf("x"), resetOf("s"))}, []string{"s"}},
		"delegates":             {[]*session{row("s", ""), row("a", "s", delegateOf("s")), row("b", "", delegateOf("a")), row("c", "b", subagent)}, []string{"a", "b", "c", "s"}},
		"an unreadable one":     {[]*session{row("s", ""), row("a", "s", subagent, unreadableConfig())}, []string{"s"}},
		"a delegate and branch": {[]*session{row("s", ""), row("a", "", delegateOf("s"), branchOf("s"))}, []string{"s"}},
		"a delegate and reset":  {[]*session{row("s", ""), row("a", "", delegateOf("s"), resetOf("s"))}, []string{"s"}},
		"kept ones count too":   {[]*session{row("s", "", compressed), row("a", "", delegateOf("s"))}, []string{"a", "s"}},
		"not whom it works for": {[]*session{row("x", ""), row("s", "", delegateOf("x"))}, []string{"s"}},
		"of a delegate's chain": {[]*session{row("s", ""), row("a", "", delegateOf("s"), compressed), row("b", "a"), row("c", "", delegateOf("b"))}, []string{"a", "b", "c", "s"}},
		"a circle":              {[]*session{row("s", "b", compressed), row("b", "s", compressed)}, []string{"b", "s"}},
		"its own parent":        {[]*session{row("s", "s", compressed)}, []string{"s"}},
		"of a lost row":         {[]*session{row("a", "", delegateOf("s")), row("b", "s", subagent), row("c", "s")}, []string{"a", "b", "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, sortedKeys(graphFrom(test.rows...).logicalFamily([]string{"s"})))
		})
	}
	g := graphFrom(row("a", "", compressed), row("b", "a"), row("x", ""), row("y", "x", subagent))
	assert.Equal(t, []string{"a", "b", "x", "y"}, sortedKeys(g.logicalFamily([]string{"b", "x"})))
	assert.Empty(t, g.logicalFamily(nil))
}

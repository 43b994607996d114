package statedb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Contract 5.2: what joins the set of s.
func TestDelegates(t *testing.T) {
	s := row("s", "")
	for name, test := range map[string]struct {
		rows []*session
		want []string
	}{
		"none":                          {[]*session{row("a", "s"), row("b", "")}, nil},
		"by a marker, as a child":       {[]*session{row("a", "s", delegateOf("s"))}, []string{"a"}},
		"by a marker, from elsewhere":   {[]*session{row("a", "", delegateOf("s")), row("b", "x", delegateOf("s"))}, []string{"a", "b"}},
		"as a subagent":                 {[]*session{row("a", "s", subagent)}, []string{"a"}},
		"a Subagent is none":            {[]*session{row("a", "s", source("Subagent"))}, nil},
		"a subagent of nobody":          {[]*session{row("a", "", subagent)}, nil},
		"a subagent of another":         {[]*session{row("a", "s", subagent, delegateOf("x")), row("x", "")}, nil},
		"a subagent that says a number": {[]*session{row("a", "s", subagent, delegateMarker(5.0))}, nil},
		"a subagent nobody can read":    {[]*session{row("a", "s", subagent, unreadableConfig())}, nil},
		"a subagent that was reset":     {[]*session{row("a", "s", subagent, resetOf("s"))}, []string{"a"}},
		"breadth first, sorted": {
			[]*session{row("z", "s", subagent), row("m", "z", subagent), row("a", "", delegateOf("m")), row("b", "a")},
			[]string{"a", "m", "z"},
		},
		"below one that does not join": {[]*session{row("a", "s"), row("b", "a", subagent)}, nil},
		"a branch":                     {[]*session{row("a", "s", subagent, branchOf("s"))}, nil},
		"below a branch": {
			[]*session{row("a", "s", subagent, branchOf("s")), row("b", "a"), row("c", "b", delegateOf("s")), row("d", "", delegateOf("c"))}, nil,
		},
		"a branch of another":     {[]*session{row("a", "", delegateOf("s"), branchOf("x"))}, nil},
		"what works for a branch": {[]*session{row("a", "s", branchOf("s")), row("b", "", delegateOf("a"))}, nil},
		"it names itself":         {[]*session{row("a", "s", delegateOf("a"))}, nil},
		"two that work for each other": {
			[]*session{row("a", "b", delegateOf("s")), row("b", "a", subagent)}, []string{"a", "b"},
		},
		"what works for a delegate": {[]*session{row("a", "s", delegateOf("s")), row("b", "a", delegateOf("a"))}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, graphFrom(append(test.rows, s)...).delegates("s"))
		})
	}
}

func TestDelegatesOfALostRow(t *testing.T) {
	g := graphFrom(row("a", "s", delegateOf("s")), row("b", "s", subagent), row("c", "", delegateOf("s")))
	assert.Equal(t, []string{"a", "b", "c"}, g.delegates("s"))
}

// A continuation stays, and so does a row that branched off: by the ends of the lineage parent.
func TestKeptByTheParentsEnd(t *testing.T) {
	branched := func(at any) change { return all(ended(endBranched), endedAt(at)) }
	for name, test := range map[string]struct {
		parent, child change
		joins         bool
	}{
		"the parent is open":              {nil, nil, true},
		"the parent ended otherwise":      {closed, nil, true},
		"the parent was compressed":       {compressed, nil, false},
		"compressed long after":           {all(ended(endCompression), endedAt(1e12)), nil, false},
		"branched before the start":       {branched(99.0), nil, false},
		"branched at the start":           {branched(100.0), nil, false},
		"branched after the start":        {branched(100.001), nil, true},
		"branched, whole numbers":         {branched(int64(101)), startedAt(int64(100)), true},
		"branched, numeric text":          {branched("1_01"), startedAt("100"), true},
		"branched, in ISO form":           {branched("1970-01-01T02:01:41+02:00"), nil, true},
		"branched, in ISO form, before":   {branched("1970-01-01T02:01:39+02:00"), nil, false},
		"branched, both in ISO form":      {branched("2026-01-01T01:00:00Z"), startedAt("2026-01-01T01:30:00+01:00"), true},
		"branched, no offset":             {branched("2026-01-01T00:00:00"), nil, false},
		"branched, end unknown":           {branched(nil), nil, false},
		"branched, end empty":             {branched(""), nil, false},
		"branched, end infinite":          {branched("inf"), nil, false},
		"branched, start unknown":         {branched(100.5), startedAt(nil), false},
		"branched, start is no time":      {branched(100.5), startedAt("yesterday"), false},
		"Branched is no end that we know": {ended("Branched"), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			// p works for s, and the row hangs below p: by a marker from elsewhere, or as its child.
			for way, child := range map[string]*session{
				"by the marker": row("c", "", delegateOf("p")),
				"as a child":    row("c", "p", subagent),
			} {
				p := row("p", "", delegateOf("s"))
				for _, change := range []struct {
					make change
					of   *session
				}{{test.parent, p}, {test.child, child}} {
					if change.make != nil {
						change.make(change.of)
					}
				}
				want := []string{"p"}
				if test.joins {
					want = []string{"c", "p"}
				}
				assert.Equal(t, want, graphFrom(row("s", ""), p, child).delegates("s"), way)
			}
		})
	}
}

// With the marker there, the row that it names is the lineage parent and the physical one does not count.
func TestTheMarkersParentDecides(t *testing.T) {
	g := graphFrom(row("s", ""), row("done", "", compressed), row("a", "done", delegateOf("s")))
	assert.Equal(t, []string{"a"}, g.delegates("s"))
	g = graphFrom(row("s", ""), row("p", "", compressed), row("a", "p", delegateMarker(5.0)), row("b", "a", delegateOf("s")))
	assert.Equal(t, []string{"b"}, g.delegates("s"), "a marker that names no row leaves no lineage parent")
	g = graphFrom(row("s", "", compressed), row("a", "", delegateOf("s")), row("b", "s", subagent))
	assert.Empty(t, g.delegates("s"), "what works for a compressed session continues it")
}

func TestKeptBelowAKeptRow(t *testing.T) {
	// The branch k hangs beside s; c is its child and names s.
	rows := []*session{row("r", ""), row("s", "r"), row("k", "r", branchOf("r")), row("c", "k", delegateOf("s"))}
	assert.Empty(t, graphFrom(rows...).delegates("s"))

	// Now the way down from the kept row to c passes through s, which ends it: s itself was asked for.
	rows = []*session{row("k", "", branchOf("x")), row("s", "k"), row("c", "s", subagent), row("d", "c", subagent)}
	assert.Equal(t, []string{"c", "d"}, graphFrom(rows...).delegates("s"))

	// The same for an s that is kept as such.
	rows = []*session{row("p", "", compressed), row("s", "p", branchOf("p")), row("c", "s", subagent)}
	assert.Equal(t, []string{"c"}, graphFrom(rows...).delegates("s"))

	// A circle that s is not part of has no kept row in it, or has one that keeps them all.
	rows = []*session{row("s", ""), row("a", "c", delegateOf("s")), row("b", "a", subagent), row("c", "b", subagent)}
	assert.Equal(t, []string{"a", "b", "c"}, graphFrom(rows...).delegates("s"))
	rows[3].markers.branch = names("x")
	assert.Empty(t, graphFrom(rows...).delegates("s"))
}

// What was found out on the way of one row answers for those below it: a deep tree is climbed once.
func TestDeepTrees(t *testing.T) {
	rows := []*session{row("s", "")}
	parent := "s"
	for i := range 3000 {
		id := fmt.Sprintf("%05d", i)
		rows = append(rows, row(id, parent, subagent))
		parent = id
	}
	g := graphFrom(rows...)
	assert.Len(t, g.delegates("s"), 3000)
	g.rows["01500"].markers.branch = names("s")
	delegates := g.delegates("s")
	assert.Len(t, delegates, 1500)
	assert.Equal(t, "01499", delegates[1499])
}

package statedb

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Contract 5.1, condition by condition: each case changes one thing of a child that continues its parent.
func TestContinues(t *testing.T) {
	for name, test := range map[string]struct {
		child, parent change
		want          bool
	}{
		"as it is":                          {nil, nil, true},
		"the parent was closed":             {nil, closed, true},
		"the parent branched":               {nil, ended(endBranched), false},
		"the parent was reset":              {nil, ended("session_reset"), false},
		"the parent ended as COMPRESSION":   {nil, ended("COMPRESSION"), false},
		"the parent ended for no reason":    {nil, func(s *session) { s.endReason = nil }, false},
		"a fork":                            {sessionSource("fork"), nil, false},
		"a Fork, with space":                {sessionSource(" Fork\n"), nil, false},
		"another session_source":            {sessionSource("forked"), nil, true},
		"an empty session_source":           {sessionSource(""), nil, true},
		"the parent is a fork":              {nil, sessionSource("fork"), true},
		"a tool":                            {all(source("tool"), startedAt(100.0)), source("tool"), false},
		"the parent alone is a tool":        {nil, source("tool"), false},
		"a Tool is none":                    {source("Tool"), source("tool"), true},
		"a delegate":                        {delegateOf("p"), nil, false},
		"a branch":                          {branchOf("p"), nil, false},
		"a reset":                           {resetOf("p"), nil, false},
		"a delegate of another":             {delegateOf("q"), nil, false},
		"a marker that is a number":         {delegateMarker(5.0), nil, false},
		"an unreadable config":              {unreadableConfig(), nil, true},
		"another source":                    {source("telegram"), nil, false},
		"the same source, spelled so":       {source(" CLI "), nil, true},
		"no source":                         {noSource, nil, true},
		"an empty source":                   {source(""), nil, true},
		"the parent has no source":          {nil, noSource, true},
		"the parent has an empty source":    {nil, source(""), true},
		"the parent is open":                {nil, endedAt(nil), true},
		"the parent is open, start unknown": {startedAt("x"), endedAt(nil), true},
		"a second before the end":           {nil, endedAt(101.0), true},
		"just over a second before the end": {nil, endedAt(101.001), false},
		"long after the end":                {startedAt(1e12), nil, true},
		"no start, early end":               {startedAt(nil), endedAt(1.0), true},
		"no start, later end":               {startedAt(nil), endedAt(1.5), false},
		"whole numbers":                     {startedAt(int64(7)), endedAt(int64(8)), true},
		"whole numbers, too early":          {startedAt(int64(7)), endedAt(int64(9)), false},
		"numeric text":                      {startedAt(" 1_00.0 "), endedAt("1.01e2"), true},
		"numeric text, too early":           {startedAt("100"), endedAt("101.5"), false},
		"an empty end":                      {nil, endedAt(""), false},
		"an empty start":                    {startedAt(""), endedAt(0.0), false},
		"an end in ISO form":                {nil, endedAt("1970-01-01T00:00:00Z"), false},
		"a start in ISO form":               {startedAt("2026-01-01T00:00:00Z"), nil, false},
		"an infinite end":                   {nil, endedAt("-inf"), false},
		"an infinite start":                 {startedAt(math.Inf(1)), nil, false},
		"a start that is no number":         {startedAt(math.NaN()), nil, false},
		"a blob as the end":                 {nil, endedAt([]byte("1")), false},
	} {
		t.Run(name, func(t *testing.T) {
			p, c := row("p", "", compressed), row("c", "p")
			if test.child != nil {
				test.child(c)
			}
			if test.parent != nil {
				test.parent(p)
			}
			assert.Equal(t, test.want, continues(c, p, c.markers))
			g := graphFrom(p, c)
			if test.want {
				assert.Equal(t, []string{"p", "c"}, g.chain("p"))
				assert.Equal(t, "p", g.firstSegment("c"))
			} else {
				assert.Equal(t, []string{"p"}, g.chain("p"))
				assert.Equal(t, "c", g.firstSegment("c"))
			}
		})
	}
}

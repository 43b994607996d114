package statedb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// graphOf makes a graph from lines of: id, parent, source, end reason, started at, model_config; "-" is NULL.
func graphOf(t *testing.T, lines ...string) *graph {
	t.Helper()
	var rows []*session
	for _, line := range lines {
		cells := strings.Fields(line)
		require.Len(t, cells, 6, line)
		cell := func(i int) *string {
			if cells[i] == "-" {
				return nil
			}
			return &cells[i]
		}
		row := &session{id: cells[0], parent: cell(1), source: cell(2), endReason: cell(3), markers: readMarkers(cell(5))}
		if started := cell(4); started != nil {
			row.startedAt = *started
		}
		rows = append(rows, row)
	}
	return graphFrom(rows...)
}

// told spells conversations: segments joined by >, then delegates in brackets; sorted.
func told(f *grouping) []string {
	var all []string
	for _, k := range f.conversations {
		text := joined(k.segments, ">")
		if delegates := f.members(k)[len(k.segments):]; len(delegates) > 0 {
			slices.SortFunc(delegates, func(a, b *session) int { return strings.Compare(a.id, b.id) })
			text += "[" + joined(delegates, " ") + "]"
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

func joined(rows []*session, separator string) string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.id
	}
	return strings.Join(ids, separator)
}

func TestGrouping(t *testing.T) {
	for name, c := range map[string]struct{ rows, want []string }{
		"roots": {[]string{"a - cli - 1 -", "b - cli - 1 -"}, []string{"a", "b"}},
		"segments": {
			[]string{"a - cli compression 1 -", "b a cli cli_close 1 -", "c b cli - 1 -"},
			[]string{"a>b>c"},
		},
		"a parent that is not there": {[]string{"a x cli - 1 -", `d - cli - 1 {"_delegate_from":"x"}`}, []string{"a", "d"}},
		"what does not continue": {
			[]string{"a - cli compression 1 -", "t a tool - 1 -", "w a web - 1 -", `r a cli - 1 {"_reset_from":"a"}`, "x a cli - 1 -"},
			[]string{"a>x", "r", "t", "w"},
		},
		"two continuations": {
			[]string{"a - cli compression 1 -", "b a cli compression 1 -", "c a cli - 1 -", "d b cli - 1 -"},
			[]string{"a", "b>d", "c"},
		},
		"delegates of delegates": {
			[]string{
				"a - cli cli_close 1 -", "b a cli - 1 -", `d b cli - 1 {"_delegate_from":"b"}`, "e d subagent - 1 -",
				`m - cli - 1 {"_delegate_from":"a"}`, "o a subagent - 1 {", `n a subagent - 1 {"_delegate_from":"x"}`,
			},
			[]string{"a>b[d e m]", "n", "o"},
		},
		"a branch, and what hangs below it": {
			[]string{"a - cli - 1 -", `b a cli - 1 {"_branched_from":"a"}`, "d b subagent - 1 -"},
			[]string{"a", "b[d]"},
		},
		"work for a compressed segment stays when that goes": {
			[]string{"a - cli compression 1 -", "b a cli - 1 -", `d a cli - 1 {"_delegate_from":"a"}`},
			[]string{"a>b", "d"},
		},
		"a delegate that something continues is a conversation too": {
			[]string{"a - cli - 1 -", "d a subagent compression 1 -", "e d subagent - 1 -", "f a subagent - 1 -"},
			[]string{"a[d f]", "d>e"},
		},
		"what goes on after a delegate and works for it goes along": {
			[]string{"a - cli - 1 -", "d a subagent cli_close 1 -", "e d subagent cli_close 1 -", "f e subagent - 1 -"},
			[]string{"a[d e f]"},
		},
		"a segment is no delegate of the one before": {
			[]string{"a - subagent cli_close 1 -", "b a subagent - 1 -"},
			[]string{"a>b"},
		},
		"a circle of segments": {
			[]string{"b c cli compression 1 -", "c d cli compression 1 -", "d b cli compression 1 -"},
			[]string{"b>d>c"},
		},
		"a row that is its own parent": {[]string{"a a cli compression 1 -", "b b subagent - 1 -"}, []string{"a", "b"}},
		"a circle of delegates, and one beside it": {
			[]string{
				`b - cli - 1 {"_delegate_from":"c"}`, `c - cli - 1 {"_delegate_from":"b"}`, `a - cli - 1 {"_delegate_from":"c"}`,
			},
			[]string{"b[a c]"},
		},
		"a circle over both": {
			[]string{`b - cli compression 1 -`, `c b cli cli_close 1 -`, `d c cli - 1 {"_delegate_from":"d"}`},
			[]string{"b>c", "d"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, told(groupingOf(t, graphOf(t, c.rows...))))
		})
	}
}

// TestLongConversationsAreCutWhereADeleteStops shows that the rest of a chain that no delete takes in one go is listed.
func TestLongConversationsAreCutWhereADeleteStops(t *testing.T) {
	var rows []string
	for i := range maxHops + 3 {
		rows = append(rows, fmt.Sprintf("s%04d s%04d cli compression 1 -", i+1, i))
	}
	g := graphOf(t, rows...)
	f := groupingOf(t, g)
	require.Len(t, f.conversations, 2)
	slices.SortFunc(f.conversations, func(a, b group) int { return len(b.segments) - len(a.segments) })
	assert.Len(t, f.conversations[0].segments, len(g.chain("s0001")))
	assert.Equal(t, "s1002>s1003", joined(f.conversations[1].segments, ">"))
}

// TestNoSessionIsLost makes stores without rhyme or reason: every session is in a conversation, as a segment of exactly
// one or as a delegate; what counts in a conversation goes when it is deleted; and the answer does not hang on the order
// in which Go gives a map's keys.
func TestNoSessionIsLost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rows := anyRows(random, 2+random.IntN(8))
		g := graphOf(t, rows...)
		f := groupingOf(t, g)
		segments, seen := map[string]int{}, map[string]bool{}
		for _, conversation := range f.conversations {
			for _, row := range conversation.segments {
				segments[row.id]++
			}
			once, going := map[string]bool{}, map[string]bool{}
			for _, target := range targetsOf(t, g, conversation.segments[0].id, conversation.segments[0].id, true) {
				going[target.ID] = true
			}
			for _, row := range f.members(conversation) {
				require.False(t, once[row.id], "%s counts twice in one conversation: %q", row.id, rows)
				require.True(t, going[row.id], "%s counts in the conversation of %s and stays: %q", row.id, conversation.segments[0].id, rows)
				once[row.id], seen[row.id] = true, true
			}
		}
		require.Len(t, seen, len(rows), "%q gives %q", rows, told(f))
		for id, n := range segments {
			require.Equal(t, 1, n, "%s: %q", id, rows)
		}
		require.Equal(t, told(f), told(groupingOf(t, graphOf(t, rows...))), "%q", rows)
	}
}

func anyRows(random *rand.Rand, n int) []string {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	anyID := func() string { return fmt.Sprintf("s%d", random.IntN(n+1)) }
	var rows []string
	for i := range n {
		config := "-"
		if random.IntN(3) == 0 {
			config = fmt.Sprintf(`{"%s":"%s"}`, pick(keyDelegate, keyDelegate, keyBranch, keyReset), anyID())
		}
		rows = append(rows, fmt.Sprintf("s%d %s %s %s %d %s", i, pick("-", anyID(), anyID()), pick("cli", "cli", "subagent", "tool"),
			pick("-", endCompression, endCompression, endCLIClose, endBranched), random.IntN(3), config))
	}
	return rows
}

// TestPlace orders by the latest activity of any row, then by root, and puts those without a time last.
func TestPlace(t *testing.T) {
	g := graphOf(t,
		"a - cli cli_close 1 -", "a2 a cli - 1 -", "d a2 subagent - 1 -", "e d subagent - 1 -",
		"b - cli - 1 -", "c - cli - 1 -", "x - cli - 1 -", "y - cli - 1 -",
	)
	times := map[string]float64{"a": 1, "e": 50, "b": 20, "c": 20, "d": 3}
	place := func(matching ...string) []string {
		activity := map[*session]float64{}
		for id, at := range times {
			activity[g.rows[id]] = at
		}
		var matches map[*session]bool
		if matching != nil {
			matches = map[*session]bool{}
			for _, id := range matching {
				matches[g.rows[id]] = true
			}
		}
		placed := []string{}
		for _, one := range groupingOf(t, g).place(activity, matches) {
			text := one.Root
			if one.Activity != nil {
				text += fmt.Sprint(" ", *one.Activity)
			}
			placed = append(placed, text)
		}
		return placed
	}
	assert.Equal(t, []string{"a 50", "c 20", "b 20", "y", "x"}, place())
	assert.Equal(t, []string{"a 50", "x"}, place("e", "x"), "a delegate's delegate matches for the conversation")
	assert.Empty(t, place([]string{}...))
	assert.Empty(t, place("nobody"))
}

// TestPagesNeitherRepeatNorSkip walks pages of each size while conversations come and go elsewhere.
func TestPagesNeitherRepeatNorSkip(t *testing.T) {
	var all []conversation
	for i := range 30 {
		one := conversation{Position: Position{Root: fmt.Sprintf("s%02d", i)}}
		if i%5 > 0 {
			at := float64(i % 7)
			one.Activity = &at
		}
		all = append(all, one)
	}
	sorted := func(list []conversation) []conversation {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b conversation) int { return a.compare(b.Position) })
		return list
	}
	for limit := 1; limit <= 31; limit++ {
		var roots []string
		now := sorted(all)
		page, next := cut(now, nil, limit)
		for {
			for _, one := range page {
				roots = append(roots, one.Root)
			}
			if next == nil {
				break
			}
			require.Len(t, page, limit)
			newest := 1000.0
			now = append(now, conversation{Position: Position{&newest, "new" + fmt.Sprint(len(roots))}})
			now = sorted(slices.DeleteFunc(now, func(c conversation) bool { return c.Root == next.Root })) // its row is gone
			page, next = cut(now, next, limit)
		}
		var want []string
		for _, one := range sorted(all) {
			want = append(want, one.Root)
		}
		require.Equal(t, want, roots, "pages of %d", limit)
	}
}

// groupingOf is graph.legacyGrouping without a cancel.
func groupingOf(t *testing.T, g *graph) *grouping {
	t.Helper()
	f, err := g.legacyGrouping(t.Context())
	require.NoError(t, err)
	return f
}

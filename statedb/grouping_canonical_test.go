package statedb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canonicalOf sorts a graph of lines as graphOf reads them. chats are "id=owner"; lineages are what the local policies list, the
// owner first.
func canonicalOf(t *testing.T, g *graph, chats []string, lineages ...string) (*grouping, map[string]*local) {
	t.Helper()
	for _, chat := range chats {
		id, owner, _ := strings.Cut(chat, "=")
		g.rows[id].chatID = &owner
	}
	locals := map[string]*local{}
	for _, lineage := range lineages {
		members := strings.Fields(lineage)
		if l := g.newLocal(members); l != nil {
			locals[members[0]] = l
		}
	}
	f, err := g.canonicalGrouping(t.Context(), locals)
	require.NoError(t, err)
	return f, locals
}

func TestCanonicalGrouping(t *testing.T) {
	for name, c := range map[string]struct{ rows, chats, lineages, want []string }{
		"what goes on after a compression alone": {
			rows: []string{"a - cli compression 1 -", "b a web cli_close 1 -", "c b cli - 1 -", "s - cli session_reset 1 -", "r s cli - 1 -"},
			want: []string{"a>b", "c", "r", "s"},
		},
		"a tool's, and one that is marked with its parent": {
			rows: []string{
				"a - cli compression 1 -", "t a tool - 1 -", `m a cli - 1 {"_reset_from":"a"}`, `i a cli - 1 {"_branched_from":"x"}`,
			},
			want: []string{"a>i", "m", "t"},
		},
		"local conversations in a circle, of which one has no segment left for itself": {
			rows:     []string{"a b cli compression 1 -", "b a local compression 1 -", "c b cli - 1 -"},
			chats:    []string{"a=a", "b=b", "c=b"},
			lineages: []string{"a b", "b c"},
			want:     []string{"a>b", "c"},
		},
		"two continuations": {
			rows: []string{"a - cli compression 1 -", "b a cli compression 1 -", "c a cli - 1 -", "d b cli - 1 -"},
			want: []string{"a", "b>d", "c"},
		},
		"delegates, whatever their parent ended by, and what continues them": {
			rows: []string{
				"a - cli compression 1 -", "b a cli - 1 -", `d a cli compression 1 {"_delegate_from":"a"}`, "e d cli - 1 -",
				`f e cli - 1 {"_delegate_from":7}`, `m - cli - 1 {"_delegate_from":"f"}`, "n b subagent - 1 -", `o - cli - 1 {"_delegate_from":"gone"}`,
			},
			want: []string{"a>b[d e f m]", "n", "o"},
		},
		"who works for two is counted in both": {
			rows: []string{"a - cli - 1 -", "b - cli - 1 -", `d a cli - 1 {"_delegate_from":"b"}`, `e d cli - 1 {"_delegate_from":"d"}`},
			want: []string{"a[d e]", "b[d e]"},
		},
		"a segment may work for another conversation": {
			rows: []string{"a - cli compression 1 -", `b a cli - 1 {"_delegate_from":"z"}`, "z - cli - 1 -"},
			want: []string{"a>b", "z[b]"},
		},
		"circles": {
			rows: []string{
				"c b cli compression 1 -", "b c cli compression 1 -", `x - cli - 1 {"_delegate_from":"y"}`, `y - cli - 1 {"_delegate_from":"x"}`,
				`w - cli - 1 {"_delegate_from":"y"}`, "s s cli compression 1 -", `n - cli - 1 {"_delegate_from":"n"}`,
			},
			want: []string{"b>c", "n", "s", "x[w y]"},
		},
		"a local conversation": {
			rows: []string{
				"o - cli compression 1 -", "p o cli session_reset 1 -", `q p cli compression 1 {"_reset_from":"p"}`, "r q cli - 1 -",
				`d q cli - 1 {"_delegate_from":"q"}`, `s r cli - 1 {"_reset_from":"r"}`,
			},
			chats:    []string{"o=o", "p=o", "q=o", "r=o"},
			lineages: []string{"o p q r"},
			want:     []string{"o>p>q>r[d]", "s"},
		},
		"its members may not know of it": {
			rows:     []string{"o - cli session_reset 1 -", `p o cli - 1 {"_reset_from":"o"}`},
			lineages: []string{"o p"},
			want:     []string{"o>p"},
		},
		"a list that does not hold": {
			rows:     []string{"o - cli session_reset 1 -", `p o cli - 1 {"_branched_from":"o"}`, `q p cli - 1 {"_reset_from":"o"}`},
			chats:    []string{"o=o", "p=o", "q=o"},
			lineages: []string{"o p", "q gone"},
			want:     []string{"o", "p", "q"},
		},
		"an owner that continues another one is a segment there and goes along here": {
			rows:     []string{"a - cli compression 1 -", "o a cli session_reset 1 -", `p o cli - 1 {"_reset_from":"o"}`},
			chats:    []string{"o=o", "p=o"},
			lineages: []string{"o p"},
			want:     []string{"a>o", "p[o]"},
		},
		"an owner that is a delegate": {
			rows: []string{
				"a - cli - 1 -", `o a cli session_reset 1 {"_delegate_from":"a"}`, `p o cli - 1 {"_reset_from":"o"}`,
			},
			chats:    []string{"o=o", "p=o"},
			lineages: []string{"o p"},
			want:     []string{"a[o]", "o>p"},
		},
		"one whose sessions all go with others": {
			rows: []string{
				"a - cli - 1 -", `o a cli session_reset 1 {"_delegate_from":"a"}`, `p o cli - 1 {"_reset_from":"o","_delegate_from":"o"}`,
			},
			chats:    []string{"o=o", "p=o"},
			lineages: []string{"o p"},
			want:     []string{"a[o p]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := canonicalOf(t, graphOf(t, c.rows...), c.chats, c.lineages...)
			assert.Equal(t, c.want, told(f))
		})
	}
}

// TestACanonicalDeleteTakesWhatIsListed makes stores without rhyme or reason: no session is left out or a segment twice, the
// answer does not hang on the order in which Go gives a map's keys, and a delete of what a conversation begins with takes its
// members, no more and no fewer, unless two continue one.
func TestACanonicalDeleteTakesWhatIsListed(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	refused, local := 0, 0
	for range 6000 {
		n := 2 + random.IntN(9)
		rows, chats, lineages := anyCanonicalRows(random, n)
		g := graphOf(t, rows...)
		f, locals := canonicalOf(t, g, chats, lineages...)
		context := fmt.Sprintf("%q %q %q give %q", rows, chats, lineages, told(f))
		segments, seen := map[string]int{}, map[string]bool{}
		for _, k := range f.conversations {
			for _, row := range k.segments {
				segments[row.id]++
			}
			members := map[string]bool{}
			for _, row := range f.members(k) {
				require.False(t, members[row.id], "%s counts twice: %s", row.id, context)
				members[row.id], seen[row.id] = true, true
			}
			taken, err := wholeConversation(t.Context(), g, locals, k.segments[0].id)
			if errors.Is(err, ErrLineageAmbiguous) {
				refused++
				continue
			}
			require.NoError(t, err)
			require.Equal(t, sortedKeys(members), taken, "%s: %s", k.segments[0].id, context)
			if len(k.others) > 0 {
				local++
			}
		}
		require.Len(t, seen, n, "%s", context)
		for id, n := range segments {
			require.Equal(t, 1, n, "%s: %s", id, context)
		}
		again, _ := canonicalOf(t, graphOf(t, rows...), chats, lineages...)
		require.Equal(t, told(f), told(again), "%s", context)
	}
	assert.Greater(t, refused, 100)
	assert.Greater(t, local, 100)
}

// wholeConversation is what a delete with whole_conversation takes, as contract 4 and 5b.2 say it, sorted.
func wholeConversation(ctx context.Context, g *graph, locals map[string]*local, id string) ([]string, error) {
	root := g.rows[g.leaseRoot(id)]
	members := []string{root.id}
	l := locals[root.id]
	if chat := root.chatID; chat != nil && locals[*chat] != nil && slices.Contains(locals[*chat].members, root) {
		l = locals[*chat]
	}
	if l != nil {
		for _, row := range l.members {
			members = append(members, row.id)
		}
	}
	why, err := g.conversation(ctx, members)
	return sortedKeys(why), err
}

func anyCanonicalRows(random *rand.Rand, n int) (rows, chats, lineages []string) {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	anyID := func() string { return fmt.Sprintf("s%d", random.IntN(n+1)) }
	parents := map[string]string{}
	for i := range n {
		id := fmt.Sprintf("s%d", i)
		parents[id] = pick("-", anyID(), anyID())
		config := "-"
		switch random.IntN(5) {
		case 0:
			config = fmt.Sprintf(`{"%s":"%s"}`, pick(keyDelegate, keyDelegate, keyBranch, keyReset), anyID())
		case 1, 2:
			config = fmt.Sprintf(`{"_reset_from":"%s"}`, parents[id])
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %s 1 %s", id, parents[id], pick("cli", "cli", "cli", "tool"),
			pick("-", endCompression, endCompression, endSessionReset, endSessionReset), config))
	}
	for i := range n {
		lineage := []string{fmt.Sprintf("s%d", i)}
		for parents[lineage[0]] != "-" && parents[lineage[0]] != "" && len(lineage) < 4 && random.IntN(4) > 0 {
			lineage = slices.Insert(lineage, 0, parents[lineage[0]])
		}
		lineages = append(lineages, strings.Join(lineage, " "))
		for _, id := range lineage {
			if parents[id] != "" && random.IntN(4) > 0 {
				chats = append(chats, id+"="+lineage[0])
			}
		}
	}
	return rows, chats, lineages
}

// TestCanonicalGroupingHearsACancel shows that a list of a large store can be given up.
func TestCanonicalGroupingHearsACancel(t *testing.T) {
	_, err := graphOf(t, "a - cli - 1 -").canonicalGrouping(cancelled(t), nil)
	require.ErrorIs(t, err, context.Canceled)
}

package statedb

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzedRows makes rows of bytes, six for each: what a store may hold of a session, in any combination. Row i is named by its
// letter; a byte that names a row may name one that is not there.
func fuzzedRows(data []byte) (rows []*session, ids []string) {
	const perRow, most = 6, 26
	name := func(b byte) string { return string(rune('a' + b%(most+1))) }
	pick := func(b byte, of ...string) *string {
		if int(b)%(len(of)+1) == len(of) {
			return nil
		}
		return &of[int(b)%(len(of)+1)]
	}
	times := []any{nil, 100.0, int64(100), 99.0, 101.5, "100", "1970-01-01T00:01:40Z", "", "nan", -1e300}
	for n := range min(len(data)/perRow, most) {
		b := data[n*perRow:]
		row := &session{
			id: name(byte(n)), source: pick(b[2], "cli", " CLI", "tool", "subagent", ""), sessionSource: pick(b[2]>>4, "fork", " Fork ", "x"),
			endReason: pick(b[3], endCompression, endCLIClose, endBranched, endSessionReset), startedAt: times[b[4]%10], endedAt: times[b[5]%10],
			markers: markers{readable: b[3]&0x80 == 0}, disputed: b[4]&0x80 != 0,
		}
		if b[0]&0x80 == 0 {
			parent := name(b[0])
			row.parent = &parent
		}
		if row.markers.readable {
			for i, m := range []*marker{&row.markers.delegate, &row.markers.branch, &row.markers.reset} {
				switch (int(b[1])>>5 + i) % 8 {
				case 0, 4:
					*m = newMarker(name(b[1]))
				case 7:
					*m = newMarker(float64(b[1]))
				}
			}
		}
		rows = append(rows, row)
		ids = append(ids, row.id)
	}
	return rows, ids
}

// FuzzLineage decides about rows in every constellation, circles and parents that are not there included: each question has an
// answer, and whoever reads the rows in another order has the same one.
func FuzzLineage(f *testing.F) {
	for _, seed := range [][]byte{
		{}, {0x80, 0x20, 0, 0, 1, 1}, // one row
		{0x80, 0x20, 0, 0, 1, 1, 0, 0x20, 0, 0, 1, 1, 1, 0x20, 0, 0, 1, 1},                   // a chain of compressions
		{2, 0x20, 0, 0, 1, 1, 0, 0x20, 0, 0, 1, 1, 1, 0x20, 0, 0, 1, 1},                      // a circle
		{0x80, 0x20, 0, 0, 1, 1, 0, 0x20, 0, 4, 1, 1, 0, 0x20, 0, 4, 1, 1},                   // two that continue one
		{0x80, 0x20, 0, 4, 1, 0, 0, 0, 3, 4, 1, 0, 0x80, 0, 0, 4, 1, 0, 1, 0xe0, 3, 2, 1, 6}, // delegates
		{1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 26, 26, 0, 0, 0, 0},           // itself, and nobody
		[]byte("every byte is a row of some kind, and these are many of them, one after another, over and over again"),
	} {
		f.Add(seed, byte(0))
		f.Add(seed, byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, asked byte) {
		rows, ids := fuzzedRows(data)
		requested := string(rune('a' + asked%27))
		reversed := slices.Clone(rows)
		slices.Reverse(reversed)
		g, other := graphFrom(rows...), graphFrom(reversed...)
		for _, whole := range []bool{false, true} {
			for _, chain := range []bool{false, true} {
				checkLegacy(t, g, other, requested, whole, chain)
			}
		}
		checkCanonical(t, g, other, requested)
		roots := g.leaseRoots(ids)
		for _, id := range ids {
			require.Equal(t, g.leaseRoot(id), roots[id], "whoever else is asked about")
		}
		for _, list := range []func(*graph) (*grouping, error){
			func(g *graph) (*grouping, error) { return g.legacyGrouping(t.Context()) },
			func(g *graph) (*grouping, error) { return g.canonicalGrouping(t.Context(), nil) },
		} {
			grouping, err := list(g)
			require.NoError(t, err)
			listed := map[string]bool{}
			for _, k := range grouping.conversations {
				require.NotEmpty(t, k.segments)
				for _, row := range grouping.members(k) {
					listed[row.id] = true
				}
			}
			require.Len(t, listed, len(rows), "every row is somewhere")
		}
	})
}

// requireTargets is what holds of every set that goes.
func requireTargets(t *testing.T, g *graph, targets []Target, kept []Kept, requested string) {
	t.Helper()
	ids := map[string]bool{}
	for _, target := range targets {
		require.False(t, ids[target.ID], "%s is listed twice", target.ID)
		require.True(t, target.ID == requested || g.rows[target.ID] != nil, "there is no %s", target.ID)
		require.Equal(t, target.ID == requested, target.Why == WhyRequested)
		ids[target.ID] = true
	}
	for _, k := range kept {
		require.False(t, ids[k.ID], "%s goes and stays", k.ID)
		require.NotEmpty(t, k.Why)
		require.NotNil(t, g.rows[k.ID])
	}
}

func checkLegacy(t *testing.T, g, other *graph, requested string, whole, chain bool) {
	t.Helper()
	start := requested
	if whole {
		start = g.firstSegment(requested)
		require.Equal(t, start, other.firstSegment(requested))
	}
	targets := targetsOf(t, g, start, requested, chain)
	require.Equal(t, targets, targetsOf(t, other, start, requested, chain))
	kept := g.kept(targets)
	require.Equal(t, kept, other.kept(targets))
	requireTargets(t, g, targets, kept, requested)
	require.Contains(t, idsOf(targets), start)
	for _, target := range targets {
		if target.Why == WhyDelegate {
			require.False(t, g.rows[target.ID].markers.branch.present, "%s branched off", target.ID)
		}
	}
	family := g.logicalFamily(idsOf(targets))
	require.Equal(t, family, other.logicalFamily(idsOf(targets)))
	for _, id := range idsOf(targets) {
		require.True(t, family[id])
	}
}

func checkCanonical(t *testing.T, g, other *graph, requested string) {
	t.Helper()
	root := g.leaseRoot(requested)
	for _, start := range []string{requested, root} {
		why, err := g.conversation(t.Context(), []string{start})
		_, otherErr := other.conversation(t.Context(), []string{start})
		if err != nil {
			require.ErrorIs(t, err, ErrLineageAmbiguous)
			require.Error(t, otherErr)
			continue
		}
		require.NoError(t, otherErr)
		members := sortedKeys(why)
		again, err := g.conversation(t.Context(), members)
		require.NoError(t, err)
		require.Equal(t, members, sortedKeys(again), "it is a fixed point")
		targets, err := inOrder(why, start, requested)
		if err != nil {
			require.ErrorIs(t, err, ErrLineageAmbiguous)
			require.NotContains(t, members, requested)
			continue
		}
		require.Equal(t, start, targets[0].ID)
		requireTargets(t, g, targets, g.keptChildren(targets), requested)
	}
}

package properties

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"session-sidecar/internal/sidecartest"
)

// sweepResult is the answer of state_db.sweep_sessions.
type sweepResult struct {
	Swept   []string
	Skipped []struct {
		SessionID string `json:"session_id"`
		Reason    string
	}
	Transactions int
}

// TestSweepsOfAnyStore makes up families and ledgers, and shows of a sweep in each: it takes exactly the named that the
// contract lets go, skips the others with their reason and leaves all of them as they were; no word of what is gone is left
// but in what is retained; and doing it again changes nothing but what another sweep of that store would.
func TestSweepsOfAnyStore(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStore(rt)
		home, begun := w.home(canonical, s), time.Now()
		defer func() { _ = os.RemoveAll(home.Path) }()
		named := rapid.Permutation(safeOf(s.named)).Draw(rt, "named")
		asked := named[:rapid.IntRange(1, len(named)).Draw(rt, "asked")]
		if (draw{rt}).seldom("twice", 2) {
			asked = append(slices.Clone(asked), asked[0])
		}
		w.sweepOnce(rt, s, home, asked, begun)
		w.sweepOnce(rt, s, home, asked, begun)
	})
	t.Log(w.outcomes)
	require.NotZero(t, w.outcomes["swept"])
}

func (w *world) sweepOnce(rt *rapid.T, s *anyStore, home *sidecartest.Home, asked []string, begun time.Time) {
	before, files := home.Tables(), filesOf(home)
	m := newModel(before, s.configs)
	want := m.sweep(asked)
	var result sweepResult
	w.call(rt, canonical, "state_db.sweep_sessions", map[string]any{"profile_home": home.Path, "session_ids": asked}, &result)
	for _, skip := range result.Skipped {
		w.outcomes[skip.Reason]++
		if reasons := want.skipped[skip.SessionID]; reasons != nil {
			require.Contains(rt, reasons, skip.Reason, skip.SessionID)
			continue
		}
		// Once its root went in an earlier transaction, a session is its own, and a lease of its own protects it.
		require.Greater(rt, result.Transactions, 1, "%s: %s", skip.SessionID, skip.Reason)
		require.True(rt, m.leasedItself(want.units[skip.SessionID]), skip.SessionID)
		want.ids = without(want.ids, []string{skip.SessionID})
	}
	require.Equal(rt, append([]string{}, want.ids...), result.Swept)
	require.Len(rt, want.units, len(result.Swept)+len(result.Skipped), "each is told once")
	for _, unit := range want.units {
		n := len(unit) - len(without(unit, result.Swept))
		require.True(rt, n == 0 || n == len(unit), "%v goes whole or not at all", unit)
	}
	w.outcomes["swept"] += len(want.ids)
	after := home.Tables()
	if len(want.ids) == 0 {
		require.Zero(rt, result.Transactions)
		require.Equal(rt, before, after, "a sweep of nothing changes nothing")
		require.Equal(rt, files, filesOf(home))
		return
	}
	require.Positive(rt, result.Transactions)
	expected := m.after(want.ids, want.expires)
	if result.Transactions > 1 {
		expected["session_turn_leases"] = after["session_turn_leases"] // as above
	}
	requireStore(rt, expected, after, begun)
	gone := map[string]bool{}
	for _, id := range want.ids {
		gone[id] = true
	}
	requireForgotten(rt, s, after, gone, false)
	requireSound(rt, home, s, gone)
	require.ElementsMatch(rt, without(files, m.artifacts(files, want.ids)), filesOf(home))
}

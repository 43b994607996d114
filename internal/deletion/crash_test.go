package deletion_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) { sidecartest.Main(m, sidecartest.EveryPointHadItsCase) }

// way is a way to delete, in which a crash may come.
type way struct {
	name      string
	canonical bool // over a store with the runtime ledger
	method    string
	ids       []string   // what is asked for
	together  [][]string // what goes in one transaction each, in this order
	second    bool       // the crash comes where the second of these is at the point
}

var ways = []way{
	{name: "single,legacy", method: "state_db.delete_cli_session", ids: []string{"P"}, together: [][]string{{"P", "D"}}},
	{name: "single,canonical", canonical: true, method: "state_db.delete_cli_session", ids: []string{"P"}, together: [][]string{{"P", "D"}}},
	{name: "bulk,legacy", method: "state_db.delete_sessions", ids: []string{"P", "Q"}, together: [][]string{{"P", "D"}, {"Q"}}, second: true},
	{name: "bulk,canonical", canonical: true, method: "state_db.delete_sessions", ids: []string{"P", "Q"}, together: [][]string{{"P", "D"}, {"Q"}}, second: true},
	{name: "sweep", canonical: true, method: "state_db.sweep_sessions", ids: []string{"Q", "P", "D"}, together: [][]string{{"Q", "P", "D"}}},
}

// TestCrashAtEveryPoint kills the real process at each point of each way to delete and looks: all of a delete or none of it,
// the ledger's rows and their retirement in one, and the next start finishes the files (contract 9).
func TestCrashAtEveryPoint(t *testing.T) {
	for _, w := range ways {
		points := faultpoint.OfDelete()
		if w.byUser() {
			points = append(points, faultpoint.OfReceipts()...)
		}
		for _, point := range points {
			// A manifest is only rewritten where an older one has something left.
			needsOlder := point == faultpoint.ManifestRewritten
			single := w.method == "state_db.delete_cli_session"
			if needsOlder || single {
				crashAt(t, w, point, true)
			}
			if !needsOlder {
				crashAt(t, w, point, false)
			}
		}
	}
}

// killAt says at which passing of the point the process has to end.
func (w way) killAt(point faultpoint.Point) string {
	nth := 1
	switch {
	case !w.second || slices.Contains([]faultpoint.Point{
		faultpoint.LockHeld, faultpoint.BeforeLocksAreReleased, faultpoint.ManifestRewritten,
	}, point): // these are passed once for all
	case point == faultpoint.BeforeUnlink || point == faultpoint.AfterUnlink:
		nth = 4*len(w.together[0]) + 1 // once for each artifact
	default:
		nth = 2
	}
	return fmt.Sprintf("SIDECAR_FAULT_KILL=%s#%d", point, nth)
}

func (w way) params(home *sidecartest.Home) map[string]any {
	if w.method == "state_db.delete_cli_session" {
		return map[string]any{"profile_home": home.Path, "session_id": w.ids[0]}
	}
	return map[string]any{"profile_home": home.Path, "session_ids": w.ids}
}

func (w way) home(t *testing.T, withOlder bool) *sidecartest.Home {
	t.Helper()
	statements := []string{fixtures.LegacySchema, family, another}
	if w.canonical {
		statements = []string{fixtures.RuntimeSchema, family, another, history}
	}
	return homeWith(t, withOlder, []string{"P", "D", "Q", "LIVE"}, statements...)
}

func crashAt(t *testing.T, w way, point faultpoint.Point, withOlder bool) {
	t.Run(fmt.Sprintf("%s,%s,older=%v", w.name, point, withOlder), func(t *testing.T) {
		t.Parallel()
		home := w.home(t, withOlder)
		requireKilled(t, w.killAt(point), w.method, w.params(home))

		fates := w.requireAllOrNothing(t, home)
		if w.second && point != faultpoint.LockHeld && point != faultpoint.ManifestRewritten {
			require.Equal(t, retired, fates[0], "the first of many is gone when the second is at the point")
		}
		w.requireNextStartFinishes(t, home, fates)
		if withOlder {
			assert.Equal(t, []string{older}, home.Manifests())
		} else {
			assert.Empty(t, home.Manifests())
		}
	})
}

// TestCrashInASweepOfALegacyStore: such a store is not swept at all, wherever the process ends. What an earlier delete left is
// worked through all the same.
func TestCrashInASweepOfALegacyStore(t *testing.T) {
	w := way{method: "state_db.sweep_sessions", ids: []string{"Q", "P", "D"}, together: [][]string{{"Q", "P", "D"}}}
	for _, point := range faultpoint.OfDelete() {
		// Those that it does not come to lie between the write lock and the commit, or follow a manifest with nothing left.
		comes := !slices.Contains([]faultpoint.Point{
			faultpoint.WriteLockHeld, faultpoint.PlanDecided, faultpoint.RowsChanged, faultpoint.BeforeCommit, faultpoint.AfterCommit,
			faultpoint.BeforeManifestRemoval, faultpoint.AfterManifestRemoval,
		}, point)
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			home := w.home(t, true)
			p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL="+string(point)))
			p.Handshake()
			p.Request(1, w.method, w.params(home))
			if comes {
				requireUnanswered(t, p)
				require.Equal(t, -1, p.Wait(), "it was not killed: %s", p.Stderr())
			} else {
				assert.Equal(t, "store_unsupported", condition(t, p.Reply()))
			}
			require.Equal(t, []fate{stands}, w.requireAllOrNothing(t, home))

			next := sidecartest.Start(t, sidecartest.Plain)
			next.Handshake()
			require.True(t, next.Delete(home, "unrelated").OK)
			require.Equal(t, []fate{stands}, w.requireAllOrNothing(t, home))
			assert.Empty(t, artifactsOf(home, "gone"))
			assert.Equal(t, []string{older}, home.Manifests())
		})
	}
}

// requireKilled makes one call to a process that is to be killed in it, at the point that the setting names.
func requireKilled(t *testing.T, setting, method string, params map[string]any) {
	t.Helper()
	p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env(setting))
	p.Handshake()
	p.Request(1, method, params)
	requireUnanswered(t, p)
	require.Equal(t, -1, p.Wait(), "it was not killed: %s", p.Stderr())
}

// requireUnanswered reads until the process ends: nothing but progress may come.
func requireUnanswered(t *testing.T, p *sidecartest.Process) {
	t.Helper()
	for {
		line, any := p.TryLine(time.Minute)
		if !any {
			return
		}
		require.Contains(t, line, `"progress"`, "the process passed the point, or never came to it: %s", p.Stderr())
	}
}

// requireAllOrNothing tells what became of each transaction.
func (w way) requireAllOrNothing(t *testing.T, home *sidecartest.Home) (fates []fate) {
	t.Helper()
	home.RequireSound()
	for _, id := range []string{"LIVE", "Q"} {
		if id == "LIVE" || !slices.Contains(w.ids, id) {
			require.Equal(t, stands, fateOf(t, home, w.canonical, id))
			requireArtifacts(t, home, id)
		}
	}
	for i, ids := range w.together {
		fates = append(fates, fateOf(t, home, w.canonical, ids...))
		requireFilesFit(t, home, fates[i], ids...)
		requireReceiptFits(t, home, w.byUser(), fates[i], ids...)
		require.False(t, i > 0 && fates[i] == retired && fates[i-1] == stands, "a later one is gone before an earlier one")
	}
	return fates
}

// requireNextStartFinishes lets a new process delete something else: whatever the crash left is done first. What survived
// can be deleted again.
func (w way) requireNextStartFinishes(t *testing.T, home *sidecartest.Home, fates []fate) {
	t.Helper()
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	result := p.Delete(home, "unrelated")
	require.True(t, result.OK, result.Detail)
	assert.Empty(t, artifactsOf(home, "gone"))
	for i, ids := range w.together {
		if fates[i] == retired {
			assert.Empty(t, artifactsOf(home, ids...))
		} else {
			requireArtifacts(t, home, ids...)
		}
	}
	p.Request(2, w.method, w.params(home))
	for reply := p.Reply(); reply.Result == nil; reply = p.Reply() {
		require.Nil(t, reply.Error)
	}
	require.Equal(t, slices.Repeat([]fate{retired}, len(fates)), w.requireAllOrNothing(t, home))
	for _, ids := range w.together {
		assert.Empty(t, artifactsOf(home, ids...))
	}
}

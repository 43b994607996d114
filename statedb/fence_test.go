package statedb

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

const (
	longAgo      = `{"expires":true,"own":true,"retired_at":5.0}`
	permanentOne = `{"own":true,"retired_at":5.0}`
)

// newFencedStore makes a home with a runtime store whose state_meta holds these records, by key.
func newFencedStore(t *testing.T, records map[string]string) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema)
	insertRecords(t, home, records)
	return home
}

func insertRecords(t *testing.T, home *sidecartest.Home, records map[string]string) {
	t.Helper()
	tx := begin(t, home)
	for key, value := range records {
		_, err := tx.conn.ExecContext(t.Context(), "INSERT INTO state_meta (key, value) VALUES (?, ?)", key, value)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())
}

func recordsOf(home *sidecartest.Home) []string {
	return home.Query("SELECT key || ' = ' || value FROM state_meta ORDER BY key")
}

func TestFirstGeneration(t *testing.T) {
	candidates := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		retired, pinned, spent string // words
		want                   int    // -1: none
	}{
		"nothing said":                          {"", "", "", 0},
		"the first retired":                     {"a", "", "", 1},
		"the first spent":                       {"", "", "a", 1},
		"retired and pinned":                    {"a", "a", "", 0},
		"retired, pinned and spent":             {"a", "a", "a", 0},
		"pinned but not retired, and spent":     {"", "a", "a", 1},
		"pinned but not retired":                {"", "a", "", 0},
		"retired and spent":                     {"a", "", "a", 1},
		"another one pinned":                    {"a b", "b", "", 1},
		"the free one before the pinned one":    {"a c", "c", "", 1},
		"all retired":                           {"a b c", "", "", -1},
		"all spent":                             {"", "", "a b c", -1},
		"all retired or spent":                  {"a c", "b", "b", -1},
		"the last one":                          {"a", "", "b", 2},
		"the last one by its pin":               {"a b c", "c", "", 2},
		"pinned and spent that nobody asked of": {"a", "x", "y", 1},
	} {
		t.Run(name, func(t *testing.T) {
			retired := setOf(strings.Fields(c.retired))
			g := Generations{candidates, strings.Fields(c.pinned), strings.Fields(c.spent)}
			n, found := g.first(func(id string) bool { return retired[id] })
			assert.Equal(t, c.want >= 0, found)
			assert.Equal(t, max(0, c.want), n)

			home := newFencedStore(t, nil)
			for id := range retired {
				insertRecords(t, home, map[string]string{retiredSessionPrefix + id: "malformed"})
			}
			n, found, err := FirstGeneration(t.Context(), home.Store(), g)
			require.NoError(t, err)
			assert.Equal(t, c.want >= 0, found, "in the store")
			assert.Equal(t, max(0, c.want), n, "in the store")
		})
	}
	_, found := Generations{}.first(func(string) bool { return false })
	assert.False(t, found, "no candidates")
	n, found := Generations{Candidates: []string{"a", "b", "b"}, Spent: []string{"a"}}.first(func(string) bool { return false })
	assert.True(t, found)
	assert.Equal(t, 1, n, "the first of two equal ones")
}

func TestManyCandidatesAndRepeatedOnes(t *testing.T) {
	home := newFencedStore(t, map[string]string{retiredSessionPrefix + "c0": longAgo})
	var candidates []string
	for i := range 3 * chunkSize {
		candidates = append(candidates, fmt.Sprintf("c%d", i), "c0")
	}
	n, found, err := FirstGeneration(t.Context(), home.Store(), Generations{Candidates: candidates})
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, 2, n)
	expiring, err := ExpiringFences(t.Context(), home.Store(), candidates)
	require.NoError(t, err)
	assert.Equal(t, []string{"c0"}, expiring, "a fence that is asked for often is one fence")
}

// A key that stands twice says nothing that two readers would agree on.
func TestRecordsThatAreNoText(t *testing.T) {
	home := newHome(t)
	home.Create(
		"CREATE TABLE sessions (id TEXT, parent_session_id TEXT)",
		"CREATE TABLE state_meta (key, value)",
		`INSERT INTO state_meta VALUES ('gateway.retired_session.v1.twice', '`+longAgo+`'), ('gateway.retired_session.v1.twice', '`+longAgo+`'),
			('gateway.retired_session.v1.null', NULL), ('gateway.retired_session.v1.number', 5),
			('gateway.retired_session.v1.blob', CAST('`+longAgo+`' AS BLOB)), ('gateway.retired_session.v1.one', '`+longAgo+`'),
			(CAST('gateway.retired_session.v1.key' AS BLOB), '`+longAgo+`')`,
	)
	for _, id := range []string{"twice", "null", "number", "blob"} {
		state, err := SessionFence(t.Context(), home.Store(), id)
		require.NoError(t, err)
		assert.Equal(t, &FenceState{Retired: true}, state, id)
	}
	state, err := SessionFence(t.Context(), home.Store(), "key")
	require.NoError(t, err)
	assert.Equal(t, &FenceState{}, state, "a key that is no text is another key")
	before := home.Query("SELECT count(*) FROM state_meta")
	kept, err := KeepPassedFences(t.Context(), home.Store(), []string{"twice", "null", "number", "blob"})
	require.NoError(t, err)
	assert.True(t, kept)
	assert.Equal(t, before, home.Query("SELECT count(*) FROM state_meta"))
	reclaimed, err := ReclaimFences(t.Context(), home.Store())
	require.NoError(t, err)
	assert.Equal(t, 1, reclaimed)
	assert.Equal(t, []string{"6"}, home.Query("SELECT count(*) FROM state_meta"))
	assert.Empty(t, home.Query("SELECT key FROM state_meta WHERE key = 'gateway.retired_session.v1.one'"))
}

// Whoever holds the write lock does not matter where nothing has to change, and nothing is written.
func TestNoWriteLockWhereNothingChanges(t *testing.T) {
	home := newFencedStore(t, map[string]string{
		retiredSessionPrefix + "a": permanentOne, retiredSessionPrefix + "b": "malformed", retiredRoutePrefix + "main:a": permanentOne,
	})
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	reclaimed, err := ReclaimFences(t.Context(), home.Store())
	require.NoError(t, err, "nobody tried to take the lock")
	assert.Zero(t, reclaimed)
	for passed, want := range map[string]bool{"": true, "a": true, "a b a": true, "a x": false, "x": false} {
		kept, err := KeepPassedFences(t.Context(), home.Store(), strings.Fields(passed))
		require.NoError(t, err, passed)
		assert.Equal(t, want, kept, passed)
	}
	holder.Release()
}

// What the look found may be another thing when the lock is there.
func TestFencesAreLookedAtAgainUnderTheLock(t *testing.T) {
	chain := map[string]string{retiredSessionPrefix + "a": longAgo, retiredSessionPrefix + "b": longAgo}
	passed := []string{"a", "b"}
	const now = 1790000000.0

	t.Run("a fence went meanwhile", func(t *testing.T) {
		home := newFencedStore(t, chain)
		home.Exec("DELETE FROM state_meta WHERE key LIKE '%.b'")
		kept, err := keepPassed(t.Context(), home.Store(), passed)
		require.NoError(t, err)
		assert.False(t, kept)
		assert.Equal(t, []string{retiredSessionPrefix + "a = " + longAgo}, recordsOf(home), "nothing was changed")
	})
	t.Run("a fence was refreshed meanwhile", func(t *testing.T) {
		home := newFencedStore(t, chain)
		home.Exec(`UPDATE state_meta SET value = '{"expires":true,"own":true,"retired_at":7.5}' WHERE key LIKE '%.b'`)
		kept, err := keepPassed(t.Context(), home.Store(), passed)
		require.NoError(t, err)
		assert.True(t, kept)
		assert.Equal(t, []string{
			retiredSessionPrefix + "a = " + permanentOne, retiredSessionPrefix + `b = {"own":true,"retired_at":7.5}`,
		}, recordsOf(home))
	})
	t.Run("the table went meanwhile", func(t *testing.T) {
		home := newFencedStore(t, chain)
		home.Exec("DROP TABLE state_meta")
		kept, err := keepPassed(t.Context(), home.Store(), passed)
		require.NoError(t, err)
		assert.False(t, kept)
		reclaimed, err := reclaim(t.Context(), home.Store(), []string{retiredSessionPrefix + "a"}, now)
		require.NoError(t, err)
		assert.Zero(t, reclaimed)
	})
	t.Run("a fence became permanent, one was refreshed, one went", func(t *testing.T) {
		home := newFencedStore(t, map[string]string{
			retiredSessionPrefix + "a": permanentOne, retiredSessionPrefix + "b": `{"expires":true,"retired_at":1790000000}`,
			retiredRoutePrefix + "main:a": longAgo,
		})
		reclaimed, err := reclaim(t.Context(), home.Store(), []string{
			retiredRoutePrefix + "main:a", retiredSessionPrefix + "a", retiredSessionPrefix + "b", retiredSessionPrefix + "c",
		}, now)
		require.NoError(t, err)
		assert.Equal(t, 1, reclaimed)
		assert.Equal(t, []string{
			retiredSessionPrefix + "a = " + permanentOne, retiredSessionPrefix + `b = {"expires":true,"retired_at":1790000000}`,
		}, recordsOf(home))
	})
}

// Each transaction is bounded: one that fails leaves what those before it have done.
func TestReclaimWorksInSteps(t *testing.T) {
	records := map[string]string{retiredSessionPrefix + "permanent": permanentOne}
	for i := range 2*reclaimAtOnce + 1 {
		records[fmt.Sprintf("%sx%05d", retiredSessionPrefix, i)] = longAgo
	}
	home := newFencedStore(t, records)
	home.Exec(`CREATE TRIGGER stop BEFORE DELETE ON state_meta WHEN old.key LIKE '%x' || '01500' BEGIN SELECT RAISE(ABORT, 'stop here'); END`)
	_, err := ReclaimFences(t.Context(), home.Store())
	requireDetail(t, err, ErrUnsupported, "stop here")
	assert.Equal(t, []string{fmt.Sprint(reclaimAtOnce + 2)}, home.Query("SELECT count(*) FROM state_meta"))
	home.Exec("DROP TRIGGER stop")
	reclaimed, err := ReclaimFences(t.Context(), home.Store())
	require.NoError(t, err)
	assert.Equal(t, reclaimAtOnce+1, reclaimed)
	assert.Equal(t, []string{retiredSessionPrefix + "permanent = " + permanentOne}, recordsOf(home))
	requireFree(t, home)
}

func TestFencesThatCannotBeAsked(t *testing.T) {
	without := newHome(t)
	without.Create("CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)")
	garbage := newHome(t)
	garbage.Write("state.db", strings.Repeat("no database ", 100))
	for want, home := range map[error]*sidecartest.Home{ErrUnsupported: without, ErrCorrupt: garbage, ErrIO: newHome(t)} {
		for name, err := range everyFenceCall(t.Context(), home.Store()) {
			require.ErrorIs(t, err, want, name)
		}
	}
	home := newFencedStore(t, map[string]string{retiredSessionPrefix + "a": longAgo})
	for name, err := range everyFenceCall(cancelled(t), home.Store()) {
		require.ErrorIs(t, err, context.Canceled, name)
	}
	assert.Equal(t, []string{retiredSessionPrefix + "a = " + longAgo}, recordsOf(home))
	requireFree(t, home)
}

func everyFenceCall(ctx context.Context, path string) map[string]error {
	errs := map[string]error{}
	_, errs["SessionFence"] = SessionFence(ctx, path, "a")
	_, _, errs["FirstGeneration"] = FirstGeneration(ctx, path, Generations{Candidates: []string{"a"}})
	_, errs["KeepPassedFences"] = KeepPassedFences(ctx, path, []string{"a"})
	_, errs["HasMutationReceipt"] = HasMutationReceipt(ctx, path, "p", "s", "r")
	_, errs["ReclaimFences"] = ReclaimFences(ctx, path)
	_, errs["ExpiringFences"] = ExpiringFences(ctx, path, []string{"a"})
	return errs
}

// A cancel ends the wait for the write lock and leaves no transaction.
func TestCancelledWhileItWaitsForTheLock(t *testing.T) {
	home := newFencedStore(t, map[string]string{retiredSessionPrefix + "a": longAgo})
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	inner, cancel := context.WithCancel(t.Context())
	ctx := &sidecartest.AskedContext{Context: inner}
	done := make(chan error, 1)
	go func() {
		_, err := reclaim(ctx, home.Store(), []string{retiredSessionPrefix + "a"}, 1790000000)
		done <- err
	}()
	ctx.RequireWaiting(t)
	cancel()
	select {
	case err := <-done:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(time.Minute):
		require.Fail(t, "the wait does not end")
	}
	holder.Release()
	requireFree(t, home)
	assert.Equal(t, []string{retiredSessionPrefix + "a = " + longAgo}, recordsOf(home))
}

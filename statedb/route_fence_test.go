package statedb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// fence is a row of state_meta for a route or, without a namespace, for a session.
func fence(namespace, id, value string) string {
	key := retiredSessionPrefix + id
	if namespace != "" {
		key = routeFenceKey(namespace, id)
	}
	return fmt.Sprintf("INSERT INTO state_meta VALUES ('%s', '%s')", key, value)
}

func route(key, entry string) string {
	return fmt.Sprintf("INSERT INTO gateway_routing VALUES ('', '%s', '%s', 1)", key, entry)
}

// fencesOf lists the fences of routes with what they say but for the time.
func fencesOf(home *sidecartest.Home) []string {
	return home.Query(`SELECT substr(key, length('gateway.retired_route.v1.') + 1) || CASE
		WHEN NOT json_valid(value) THEN ' malformed' WHEN value ->> 'expires' = 1 THEN ' expires' ELSE '' END
		FROM state_meta WHERE key GLOB 'gateway.retired_route.v1.*' ORDER BY key`)
}

func routesOf(home *sidecartest.Home) []string {
	return home.Query("SELECT session_key, entry_json FROM gateway_routing ORDER BY scope, session_key")
}

func fenceRoutes(t *testing.T, home *sidecartest.Home, namespace string, fences ...RouteFence) FencedRoutes {
	t.Helper()
	fenced, err := FenceRoutes(t.Context(), home.Store(), Patience, namespace, fences)
	require.NoError(t, err)
	return *fenced
}

func TestRouteRetired(t *testing.T) {
	old := now() - fenceHorizon - 10
	home := newStore(
		t, sessionX, fence("", "gone", `{"own":true,"retired_at":5}`), fence("", "theirs", `{"retired_at":5}`), fence("", "x", `bad`),
		fence("work", "fenced", `{"retired_at":5}`), fence("main", "fenced", `{"retired_at":5}`), fence("main", "y", `{"retired_at":5}`),
		fence("work", "y", `{"retired_at":5}`), fence("work", "swept", fmt.Sprintf(`{"expires":true,"retired_at":%f}`, old)),
		fence("work", "swept2", fmt.Sprintf(`{"expires":true,"retired_at":%f}`, now()-10)),
		fence("work", "a:b", `{"retired_at":5}`), `INSERT INTO state_meta VALUES ('gateway.retired_route.v1.work:null', NULL)`,
	)
	for _, test := range []struct {
		key, id string
		want    bool
	}{
		{"agent:main:x", "gone", true},
		{"anything", "gone", true},
		{"agent:work:x", "gone", false},
		{"agent:work:x", "theirs", true},
		{"agent:main:x", "theirs", true},
		{"agent:work:x", "x", true}, // malformed, and live: the tombstone counts
		{"agent:work:x", "fenced", true},
		{"agent:work", "fenced", true}, // main
		{"agent:other:x", "fenced", false},
		{"agent:main:x", "y", false}, // live here
		{"agent:work:x", "y", true},
		{"agent:work:x", "swept", false},
		{"agent:work:x", "swept2", true},
		{"agent:work:x", "a:b", true},
		{"agent:work:a:x", "b", false},
		{"agent:work:x", "null", true},
		{"agent:main:x", "nobody", false},
		{"agent:main:x", "", false},
		{"agent:main:x", "GONE", false},
		{"agent:main:x", "gone\x00", false},
	} {
		retired, err := RouteRetired(t.Context(), home.Store(), test.key, test.id)
		require.NoError(t, err)
		assert.Equal(t, test.want, retired, "%q %q", test.key, test.id)
	}
	home.Exec("DROP TABLE gateway_routing", "PRAGMA foreign_keys = OFF", "DROP TABLE sessions")
	retired, err := RouteRetired(t.Context(), home.Store(), "agent:main:x", "y")
	require.NoError(t, err)
	assert.True(t, retired, "without sessions none is live")
	home.Exec("DROP TABLE state_meta")
	retired, err = RouteRetired(t.Context(), home.Store(), "agent:main:x", "gone")
	require.NoError(t, err)
	assert.False(t, retired)
}

func TestRouteRetiredChangesNothing(t *testing.T) {
	home := newStore(t, fence("main", "x", `{"expires":true,"retired_at":5}`))
	sidecartest.HoldWriteLock(t, home.Store(), 0)
	retired, err := RouteRetired(t.Context(), home.Store(), "", "x")
	require.NoError(t, err, "it takes no write lock")
	assert.False(t, retired)
	assert.Len(t, fencesOf(home), 1)
	_, err = RouteRetired(cancelled(t), home.Store(), "", "x")
	require.Error(t, err)
}

func TestFenceRoutes(t *testing.T) {
	for name, schema := range map[string]string{"legacy": fixtures.LegacySchema, "runtime": fixtures.RuntimeSchema} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			home.Create(
				schema, sessionX,
				route("agent:work:1", `{"session_id":"gone"}`), route("agent:work:2", `{"session_id":"x"}`),
				route("agent:work:3", `{"session_id":"other"}`), route("agent:work:4", `["gone"]`), route("agent:work:5", `{"session_id":"gone"`),
				route("agent:main:1", `{"session_id":"gone"}`), route("agent::2", `{"n":NaN,"session_id":"gone"}`), route("odd", `{"session_id":"gone"}`),
				route("agent:main:3", `{"session_id":"x"}`), route("agent:other:1", `{"session_id":"gone"}`), route("agent:WORK:1", `{"session_id":"gone"}`),
				`INSERT INTO gateway_routing VALUES ('b', 'agent:work:1', '{"session_id":"gone"}', 2), ('b', 'agent:work:9', '{"session_id":"other"}', 2)`,
			)
			fenced := fenceRoutes(t, home, "work", RouteFence{"gone", false}, RouteFence{"x", true})
			assert.Equal(t, FencedRoutes{Needed: true, Fenced: 2, RoutesRemoved: 6}, fenced)
			assert.Equal(t, []string{"main:gone", "work:gone", "work:x expires"}, fencesOf(home))
			assert.Equal(t, []string{
				`agent:WORK:1|{"session_id":"gone"}`, `agent:main:3|{"session_id":"x"}`, `agent:other:1|{"session_id":"gone"}`,
				`agent:work:3|{"session_id":"other"}`, `agent:work:4|["gone"]`, `agent:work:5|{"session_id":"gone"`,
				`agent:work:9|{"session_id":"other"}`,
			}, routesOf(home))
			assert.Equal(t, []string{"1"}, home.Query(`SELECT count(*) FROM state_meta WHERE key = 'gateway.retired_route.v1.work:x'
				AND abs((value ->> 'retired_at') - unixepoch('subsec')) < 600`))

			// Again: nothing but the age of the expiring one.
			home.Exec(`UPDATE state_meta SET value = '{"expires":true,"retired_at":5.0}' WHERE key LIKE '%work:x'`,
				`UPDATE state_meta SET value = '{"retired_at":5.0}' WHERE key LIKE '%:gone'`)
			fenced = fenceRoutes(t, home, "work", RouteFence{"gone", true}, RouteFence{"x", true})
			assert.Equal(t, FencedRoutes{Needed: true, Fenced: 2}, fenced)
			assert.Equal(t, []string{`{"retired_at":5.0}`, `{"retired_at":5.0}`},
				home.Query("SELECT value FROM state_meta WHERE key LIKE '%:gone'"))
			assert.Equal(t, []string{"1"}, home.Query(`SELECT value ->> 'retired_at' > 1000000 FROM state_meta WHERE key LIKE '%work:x'`))
			fenceRoutes(t, home, "work", RouteFence{"x", false})
			assert.Equal(t, []string{"main:gone", "work:gone", "work:x"}, fencesOf(home))
			home.RequireSound()
		})
	}
}

func TestFenceRoutesWithoutANamespace(t *testing.T) {
	home := newStore(t, sessionX, route("agent:main:1", `{"session_id":"gone"}`), route("agent:work:1", `{"session_id":"gone"}`))
	assert.Equal(t, 1, fenceRoutes(t, home, "", RouteFence{"gone", false}, RouteFence{"x", false}).RoutesRemoved)
	assert.Equal(t, []string{"main:gone"}, fencesOf(home))
}

func TestFenceRoutesReclaims(t *testing.T) {
	at := now()
	value := func(age float64) string { return fmt.Sprintf(`{"expires":true,"retired_at":%f}`, at-age) }
	home := newStore(t, fence("work", "old", value(fenceHorizon+60)), fence("main", "old", value(fenceHorizon+60)),
		fence("work", "again", value(fenceHorizon+60)), fence("work", "young", value(fenceHorizon-3600)),
		fence("work", "for-good", `{"retired_at":1}`), fence("work", "of-no-age", `{"expires":true}`), fence("work", "bad", `"expires`),
		fence("", "old", value(fenceHorizon+60)), `INSERT INTO state_meta VALUES ('gateway.retired_routes', '`+value(fenceHorizon+60)+`')`)
	fenced := fenceRoutes(t, home, "work", RouteFence{"again", true})
	assert.Equal(t, FencedRoutes{Needed: true, Fenced: 1, Reclaimed: 2}, fenced)
	assert.Equal(t, []string{
		"main:again expires", "work:again expires", "work:bad malformed", "work:for-good", "work:of-no-age expires", "work:young expires",
	}, fencesOf(home))
	assert.Len(t, home.Query("SELECT key FROM state_meta WHERE key IN ('gateway.retired_session.v1.old', 'gateway.retired_routes')"), 2)
	assert.Equal(t, FencedRoutes{Needed: true}, fenceRoutes(t, home, "work"), "no ids: it reclaims alone")
}

func TestStoresThatNeedNoFence(t *testing.T) {
	for name, statements := range map[string][]string{
		"nothing":        {""},
		"no state_meta":  {fixtures.LegacySchema, "DROP TABLE state_meta"},
		"another one":    {fixtures.LegacySchema, "DROP TABLE state_meta", "CREATE TABLE state_meta (key TEXT PRIMARY KEY)"},
		"no routes":      {fixtures.LegacySchema, "DROP TABLE gateway_routing"},
		"routes of old":  {fixtures.LegacySchema, "ALTER TABLE gateway_routing RENAME COLUMN entry_json TO entry"},
		"no sessions":    {"CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)", "CREATE TABLE gateway_routing (session_key, entry_json)"},
		"no session ids": {"CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)", "CREATE TABLE gateway_routing (session_key, entry_json)", "CREATE TABLE sessions (name)"},
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			home.Create(statements...)
			assert.Equal(t, FencedRoutes{}, fenceRoutes(t, home, "work", RouteFence{"x", false}))
			if slices.Contains(home.Query("SELECT name FROM sqlite_schema"), "state_meta") {
				assert.Empty(t, home.Query("SELECT key FROM state_meta"))
			}
			requireFree(t, home)
		})
	}
}

// More ids than a statement takes parameters, of all kinds that a row may hold.
func TestFenceRoutesOfManyIDs(t *testing.T) {
	home := newStore(t,
		`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 1499)
			INSERT INTO gateway_routing SELECT '', 'agent:work:' || i, json_object('session_id', 'id-' || i), 1 FROM n`,
		route("agent:work:last", `{"session_id":"stays"}`))
	fences := []RouteFence{{"a'b", false}, {`a"b`, true}, {"a\nb", false}, {"\xff", false}, {"a:b", false}, {"", false}}
	for i := range 1500 {
		fences = append(fences, RouteFence{fmt.Sprintf("id-%d", i), i%2 == 0})
	}
	fenced := fenceRoutes(t, home, "work", fences...)
	assert.Equal(t, FencedRoutes{Needed: true, Fenced: 1506, RoutesRemoved: 1500}, fenced)
	assert.Len(t, fencesOf(home), 2*1506)
	assert.Equal(t, []string{`agent:work:last|{"session_id":"stays"}`}, routesOf(home))
	assert.Len(t, home.Query(`SELECT key FROM state_meta WHERE value LIKE '%expires%'`), 2*751)
}

// A fence is whole or not at all.
func TestAFenceThatFails(t *testing.T) {
	home := newStore(t, route("agent:work:1", `{"session_id":"gone"}`), fence("work", "old", `{"expires":true,"retired_at":5}`))
	before := [][]string{fencesOf(home), routesOf(home)}
	unchanged := func() {
		t.Helper()
		assert.Equal(t, before, [][]string{fencesOf(home), routesOf(home)})
		requireFree(t, home)
	}
	fail := func(want error) {
		t.Helper()
		_, err := FenceRoutes(t.Context(), home.Store(), soon, "work", []RouteFence{{"gone", false}})
		require.ErrorIs(t, err, want)
	}
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	fail(ErrBusy)
	holder.Release()
	unchanged()
	home.Exec("CREATE TRIGGER refuses BEFORE DELETE ON gateway_routing BEGIN SELECT raise(ABORT, 'never'); END")
	fail(ErrUnsupported)
	unchanged()
	_, err := FenceRoutes(cancelled(t), home.Store(), Patience, "work", []RouteFence{{"gone", false}})
	require.Error(t, err)
	unchanged()
	_, err = FenceRoutes(t.Context(), home.Path+"/other.db", Patience, "work", nil)
	require.ErrorIs(t, err, ErrMissing)
}

func TestRouteFences(t *testing.T) {
	home := newStore(t, fence("", "gone", `{"own":true,"retired_at":5}`), fence("", "swept", `{"own":true,"expires":true,"retired_at":5}`),
		fence("", "bad", `bad`), fence("main", "routed", `{}`))
	fences, err := RouteFences(t.Context(), home.Store(), []string{"swept", "gone", "lost", "gone", "routed", "bad", ""})
	require.NoError(t, err)
	assert.Equal(t, []RouteFence{{"bad", false}, {"gone", false}, {"swept", true}}, fences)
	home.Exec("DROP TABLE state_meta")
	fences, err = RouteFences(t.Context(), home.Store(), []string{"gone"})
	require.NoError(t, err)
	assert.Empty(t, fences)
}

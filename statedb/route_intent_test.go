package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestRouteIntents(t *testing.T) {
	home := newStore(t, `INSERT INTO state_meta VALUES ('sidecar.route_intent.v2.x', '{"session_ids":["x"]}')`)
	tx := begin(t, home)
	for operation, ids := range map[string][]string{
		"0b": {"a\"b", "ä<&>", "\xff"}, "0a": {"x"}, "0c": {"\xff"}, "0d": nil,
	} {
		require.NoError(t, tx.conn.writeRouteIntent(t.Context(), operation, ids))
	}
	require.Error(t, tx.conn.writeRouteIntent(t.Context(), "0a", []string{"y"}), "never over another one")
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{`sidecar.route_intent.v1.0a|{"session_ids":["x"]}`, `sidecar.route_intent.v1.0b|{"session_ids":["a\"b","ä<&>"]}`},
		home.Query("SELECT key, value FROM state_meta WHERE key GLOB 'sidecar.route_intent.v1.*' ORDER BY key"))

	intents, err := RouteIntents(t.Context(), home.Store())
	require.NoError(t, err)
	assert.Equal(t, []RouteIntent{{OperationID: "0a", SessionIDs: []string{"x"}}, {OperationID: "0b", SessionIDs: []string{`a"b`, "ä<&>"}}}, intents)

	require.NoError(t, DropRouteIntents(t.Context(), home.Store(), Patience, []string{"0a", "lost"}))
	intents, err = RouteIntents(t.Context(), home.Store())
	require.NoError(t, err)
	assert.Len(t, intents, 1)
	assert.Len(t, home.Query("SELECT key FROM state_meta WHERE key = 'sidecar.route_intent.v2.x'"), 1)

	sidecartest.HoldWriteLock(t, home.Store(), 0)
	require.ErrorIs(t, DropRouteIntents(t.Context(), home.Store(), soon, []string{"0b"}), ErrBusy)
}

func TestRouteIntentsOfAStoreWithout(t *testing.T) {
	home := newStore(t)
	for range 2 {
		intents, err := RouteIntents(t.Context(), home.Store())
		require.NoError(t, err)
		assert.Empty(t, intents)
		home.Exec("DROP TABLE IF EXISTS state_meta")
	}
	_, err := RouteIntents(t.Context(), home.Path+"/other.db")
	require.Error(t, err)
}

func TestDamagedIntents(t *testing.T) {
	home := newStore(t)
	db := home.Open()
	for _, value := range []any{
		"", "bad", "[]", "{}", `{"session_ids":null}`, `{"session_ids":"x"}`, `{"session_ids":["x",null]}`, `{"session_ids":["x",7]}`,
		`{"Session_ids":["x"]}`, "{\"session_ids\":[\"\xff\"]}", nil, `{"session_ids":["x"]`,
	} {
		_, err := db.Exec("INSERT OR REPLACE INTO state_meta VALUES ('sidecar.route_intent.v1.a', ?)", value)
		require.NoError(t, err)
		intents, err := RouteIntents(t.Context(), home.Store())
		require.NoError(t, err)
		assert.Equal(t, []RouteIntent{{OperationID: "a", Damaged: true}}, intents, value)
	}
	ids, ok := readRouteIntent(` {"more":1,"session_ids":[]} `)
	assert.True(t, ok)
	assert.Empty(t, ids)
}

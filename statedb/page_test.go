package statedb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

// TestConfigsThatAreLeftOutDoNotMatter compares what the one pass over the sessions gives, which does not fetch most
// configs, with a reading of every one.
func TestConfigsThatAreLeftOutDoNotMatter(t *testing.T) {
	home := newStore(t)
	configs := []any{nil}
	for _, text := range oddConfigs() {
		configs = append(configs, text, []byte(text))
	}
	db := home.Open()
	transaction, err := db.Begin()
	require.NoError(t, err)
	for i, config := range configs {
		for _, source := range []string{"cli", sourceSubagent} {
			_, err := transaction.Exec("INSERT INTO sessions (id, source, started_at, model_config) VALUES (?, ?, 1, ?)",
				fmt.Sprintf("%s-%d", source, i), source, config)
			require.NoError(t, err)
		}
	}
	require.NoError(t, transaction.Commit())

	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	g, _, err := c.readSessions(t.Context(), s, PathLegacy)
	require.NoError(t, err)
	require.Len(t, g.rows, 2*len(configs))
	for i, config := range configs {
		want := readMarkers(asText(config))
		require.Equal(t, want, g.rows[fmt.Sprint("subagent-", i)].markers, "%q", config)
		got := g.rows[fmt.Sprint("cli-", i)].markers
		got.readable = want.readable // which nobody asks of a row that is no subagent
		require.Equal(t, want, got, "%q", config)
	}
	for target, rows := range g.marked {
		for _, row := range rows {
			assert.True(t, row.markers.delegate.names(target))
		}
	}
	assert.Greater(t, len(g.marked["q"]), 500)
}

// TestActivityWithAndWithoutAnIndex asks for the newest messages in both ways.
func TestActivityWithAndWithoutAnIndex(t *testing.T) {
	home := newStore(t, `INSERT INTO sessions (id, source, started_at, last_activity_at) VALUES ('none', 'cli', 7, NULL),
		('newer', 'cli', 1, 2), ('older', 'cli', 1, 20), ('text', 'cli', 'x', 'y'), ('far', 'cli', 253402300801, -1e300),
		('edge', 'cli', 1, 253402300800), ('odd', 'cli', 1, NULL)`,
		`INSERT INTO messages (session_id, role, timestamp) VALUES ('newer', 'user', 5), ('newer', 'user', 6.5), ('newer', 'user', 3),
		('older', 'user', 5), ('text', 'user', 'z'), ('far', 'user', 9e999), ('odd', 'user', 'z'), ('odd', 'user', 9e999),
		('odd', 'user', X'00'), ('odd', 'user', -4), ('odd', 'user', -5), ('nobody', 'user', 50)`)
	want := map[string]float64{"none": 7, "newer": 6.5, "older": 20, "edge": 253402300800, "odd": -4}
	for _, change := range []string{"", "DROP INDEX idx_messages_session_id", "DROP INDEX idx_messages_session"} {
		if change != "" {
			home.Exec(change)
		}
		c := connect(t, home)
		s, err := c.readSchema(t.Context())
		require.NoError(t, err)
		g, activity, err := c.readSessions(t.Context(), s, PathLegacy)
		require.NoError(t, err)
		require.Len(t, g.rows, 7)
		got := map[string]float64{}
		for row, at := range activity {
			got[row.id] = at
		}
		assert.Equal(t, want, got, change)
	}
}

// TestMarkersOfAListAreThoseOfADelete compares what the one pass over the sessions gives on the canonical path with what a
// delete reads of every row there.
func TestMarkersOfAListAreThoseOfADelete(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema)
	configs := []any{nil, 5, 2.5}
	for _, text := range oddConfigs() {
		configs = append(configs, text, []byte(text))
	}
	db := home.Open()
	transaction, err := db.Begin()
	require.NoError(t, err)
	var ids []string
	for i, config := range configs {
		ids = append(ids, fmt.Sprint(i))
		_, err := transaction.Exec("INSERT INTO sessions (id, source, started_at, model_config, parent_session_id) VALUES (?, 'cli', 1, ?, 'q')", ids[i], config)
		require.NoError(t, err)
	}
	require.NoError(t, transaction.Commit())

	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	g, _, err := c.readSessions(t.Context(), s, PathCanonical)
	require.NoError(t, err)
	reader := newLineageReader(c, s, asSQLite)
	require.NoError(t, reader.ancestors(t.Context(), ids))
	named, disputed := 0, 0
	for i, id := range ids {
		want := reader.graph.rows[id]
		require.Equal(t, want.markers, g.rows[id].markers, "%q", configs[i])
		require.Equal(t, want.disputed, g.rows[id].disputed, "%q", configs[i])
		if want.markers.any() {
			named++
		}
		if want.disputed {
			disputed++
		}
	}
	assert.Greater(t, disputed, 5)
	assert.Greater(t, named, 500)
}

// TestPoliciesThatMakeNoConversation shows which records leave their sessions apart, without an error.
func TestPoliciesThatMakeNoConversation(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, parent_session_id, model_config, started_at, end_reason) VALUES
		('o', 'cli', NULL, NULL, 1, 'session_reset'), ('p', 'cli', 'o', '{"_reset_from": "o"}', 2, NULL)`)
	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	g, _, err := c.readSessions(t.Context(), s, PathCanonical)
	require.NoError(t, err)
	policy := func(owner, lineage, entry string) string {
		return fmt.Sprintf(`{"session_id":"%[1]s","profile_id":"f","principal_id":"u","legacy_session_id":"%[1]s","route":"k",
			"lineage":%[2]s,"entry":{"session_id":"%[3]s"}}`, owner, lineage, entry)
	}
	for value, members := range map[any]int{
		policy("o", `["o","p"]`, "p"): 2,
		policy("o", `["o","p"]`, "o"): 0, policy("p", `["o","p"]`, "p"): 0, policy("o", `["o","gone"]`, "gone"): 0,
		policy("o", `["o","p","p"]`, "p"): 0, policy("o", `["o"]`, "o"): 0, policy("o", `"o"`, "o"): 0,
		"": 0, "{": 0, "null": 0, nil: 0, 5: 0,
	} {
		_, err := c.ExecContext(t.Context(), "INSERT OR REPLACE INTO state_meta VALUES ('gateway.local_policy.v1:o', ?)", value)
		require.NoError(t, err)
		locals, err := c.readLocals(t.Context(), g)
		require.NoError(t, err)
		if members == 0 {
			assert.Empty(t, locals, "%v", value)
		} else if assert.NotNil(t, locals["o"], "%v", value) {
			assert.Len(t, locals["o"].members, members)
		}
	}
}

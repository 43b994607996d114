package statedb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	g, _, err := c.readSessions(t.Context(), s)
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
		g, activity, err := c.readSessions(t.Context(), s)
		require.NoError(t, err)
		require.Len(t, g.rows, 7)
		got := map[string]float64{}
		for row, at := range activity {
			got[row.id] = at
		}
		assert.Equal(t, want, got, change)
	}
}

package statedb

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// removeAll deletes with the lineage and commits.
func removeAll(t *testing.T, tx *Tx, request Request) *Plan {
	t.Helper()
	plan, err := tx.Plan(t.Context(), request)
	require.NoError(t, err)
	require.NoError(t, tx.Remove(t.Context(), plan))
	require.NoError(t, tx.Commit())
	return plan
}

func TestRowsOfADelete(t *testing.T) {
	home := threeSegments(t)
	for _, id := range []string{"b", "c", "other"} {
		home.Exec(
			"INSERT INTO messages (session_id, role, content, timestamp) VALUES ('"+id+"', 'user', 'text of "+id+"', 1)",
			"INSERT INTO session_model_usage (session_id, model) VALUES ('"+id+"', 'm')",
			"INSERT INTO telegram_dm_topic_bindings VALUES ('"+id+"', '1', '"+id+"')", lock(id, "h", past),
		)
	}
	home.Exec("INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('tool', 'tool', 'b', 3), ('below', 'cli', 'tool', 4)")
	removal := removeAll(t, begin(t, home), Request{SessionID: "b", WithLineage: true})
	assert.Empty(t, removal.StaleIndexes)
	assert.Empty(t, removal.LeftBehind)
	assert.Equal(t, []string{"a|NULL", "below|tool", "other|NULL", "tool|NULL"}, home.Query("SELECT id, parent_session_id FROM sessions ORDER BY 1"))
	for _, table := range []string{"messages", "session_model_usage", "telegram_dm_topic_bindings", "compression_locks"} {
		assert.Equal(t, []string{"other"}, home.Query("SELECT session_id FROM "+table), table)
	}
	home.RequireSound()
}

// Rows that name a session which is gone already are leftovers, and go.
func TestLeftoversOfALostRow(t *testing.T) {
	home := newStore(t, sessionX)
	home.Exec("PRAGMA foreign_keys = OFF", "INSERT INTO messages (session_id, role, timestamp) VALUES ('lost', 'user', 1)",
		"INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('child', 'cli', 'lost', 1), ('helper', 'subagent', 'lost', 1)")
	tx := begin(t, home)
	plan, err := tx.Plan(t.Context(), Request{SessionID: "lost"})
	require.NoError(t, err)
	assert.False(t, plan.Existed)
	assert.Equal(t, []string{"lost", "helper"}, plan.IDs())
	require.NoError(t, tx.Remove(t.Context(), plan))
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"child|NULL", "x|NULL", "y|NULL"}, home.Query("SELECT id, parent_session_id FROM sessions ORDER BY 1"))
	home.RequireSound()
}

func TestLeftBehind(t *testing.T) {
	home := newStore(t, "INSERT INTO system_prompts VALUES ('only', 'p'), ('shared', 'p'), ('nobodys', 'p')",
		`INSERT INTO sessions (id, source, started_at, system_prompt_hash) VALUES ('x', 'cli', 1, 'only'), ('y', 'cli', 1, 'shared')`,
		`INSERT INTO sessions (id, source, parent_session_id, started_at, system_prompt_hash) VALUES ('d', 'subagent', 'x', 1, 'shared')`,
		`INSERT INTO gateway_routing VALUES ('', 'k1', '{"session_id":"x"}', 1), ('', 'k2', '{"session_id":"d"}', 1), ('', 'k3', '{"session_id":"y"}', 1),
			('', 'k4', 'x', 1), ('', 'k5', '["x"]', 1), ('', 'k6', '{"session_id":"x"', 1), ('', 'k7', '{"entry":{"session_id":"x"}}', 1)`)
	removal := removeAll(t, begin(t, home), Request{SessionID: "x"})
	for i := range removal.LeftBehind {
		assert.NotEmpty(t, removal.LeftBehind[i].Why)
		removal.LeftBehind[i].Why = ""
	}
	assert.Equal(t, []Counted{{"gateway_routing", 2, ""}, {"system_prompts", 1, ""}}, removal.LeftBehind)
	assert.Len(t, home.Query("SELECT * FROM gateway_routing"), 7)
	assert.Len(t, home.Query("SELECT * FROM system_prompts"), 3)
}

// More ids than a statement takes parameters, and more than one chunk of them.
func TestAConversationOfManySessions(t *testing.T) {
	home := newStore(t, "INSERT INTO system_prompts VALUES ('only', 'p')", sessionX,
		`WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 1499)
			INSERT INTO sessions (id, source, started_at, model_config, system_prompt_hash) SELECT printf('%04d', i), 'cli', 1, '{"_delegate_from":"x"}', 'only' FROM n`,
		"INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', 'text of ' || id, 1 FROM sessions",
		`INSERT INTO gateway_routing SELECT '', id, json_object('session_id', id), 1 FROM sessions`,
		"INSERT INTO sessions (id, source, parent_session_id, started_at) SELECT 'child-' || id, 'cli', id, 2 FROM sessions")
	removal := removeAll(t, begin(t, home), Request{SessionID: "x"})
	assert.Equal(t, 1501, removal.LeftBehind[0].Count)
	assert.Equal(t, 1, removal.LeftBehind[1].Count)
	assert.Equal(t, []string{"1503"}, home.Query("SELECT count(*) FROM sessions"))
	assert.Equal(t, []string{"1502"}, home.Query("SELECT count(*) FROM sessions WHERE parent_session_id IS NULL"))
	assert.Equal(t, []string{"y"}, home.Query("SELECT session_id FROM messages"))
	home.RequireSound()
}

// What was deleted is not in the file any more.
func TestDeletedPagesAreZeroed(t *testing.T) {
	home := filled(t)
	home.Exec("PRAGMA secure_delete = ON", "VACUUM") // so that no copy is left of a row that moved while the store was filled
	require.Contains(t, string(bytesOf(t, home)), "text no. 201 ")
	removeAll(t, begin(t, home), Request{SessionID: "x"})
	home.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	data := bytesOf(t, home)
	for i := 1; i <= 400; i++ {
		kept := i%2 == 0
		require.Equal(t, kept, bytes.Contains(data, fmt.Appendf(nil, "text no. %d ", i)), i)
	}
}

// An id is bound as it is, whatever it holds.
func TestOddIDs(t *testing.T) {
	home := newStore(t)
	db := home.Open()
	odd := []string{"a'b", `a"b`, "a%b_c", "", "a\nb", "ä", "\xff\xfe", "[a]", "a?b", "a\\b", "NULL", "1"}
	for _, id := range append(odd, "x") {
		_, err := db.Exec("INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES (?, 'subagent', ?, 1)", id, new("x"))
		require.NoError(t, err)
		_, err = db.Exec("INSERT INTO messages (session_id, role, timestamp) VALUES (?, 'user', 1)", id)
		require.NoError(t, err)
	}
	live, err := LiveIDs(t.Context(), home.Path, append(odd, "a", "%", "x\x00"))
	require.NoError(t, err)
	assert.Len(t, live, len(odd))
	tx := begin(t, home)
	plan, err := tx.Plan(t.Context(), Request{SessionID: "x"})
	require.NoError(t, err)
	slices.Sort(odd)
	assert.Equal(t, append([]string{"x"}, odd...), plan.IDs())
	require.NoError(t, tx.Remove(t.Context(), plan))
	require.NoError(t, tx.Commit())
	assert.Empty(t, home.Query("SELECT id FROM sessions"))
	home.RequireSound()
}

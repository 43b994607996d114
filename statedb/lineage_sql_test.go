package statedb

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// The reader fetches only what surrounds a request. On random stores, whatever it decides is what one decides who reads
// every row.
func TestReadingAroundAnIDIsEnough(t *testing.T) {
	home := newStore(t)
	db := home.Open()
	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(4, 11))
	decided := map[int]int{} // how many ids -> how often
	for store := range 60 {
		ids := randomStore(t, db, random)
		whole := readEverything(t, home, c, s)
		for _, id := range ids {
			for _, request := range []Request{{SessionID: id}, {SessionID: id, WithLineage: true}, {SessionID: id, WholeConversation: true}} {
				start := id
				if request.WholeConversation {
					start = whole.firstSegment(id)
				}
				want := targetsOf(t, whole, start, id, request.WithLineage || request.WholeConversation)

				reader, err := c.readLineage(t.Context(), s, asPython)
				require.NoError(t, err)
				targets, err := reader.resolveLegacy(t.Context(), request)
				if !slices.Contains(idsOf(want), id) {
					require.ErrorIs(t, err, ErrLineageAmbiguous)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, want, targets, "store %d, %+v", store, request)
				family, err := reader.family(t.Context(), idsOf(targets))
				require.NoError(t, err)
				require.Equal(t, sortedKeys(whole.logicalFamily(idsOf(want))), family, "store %d, %+v", store, request)
				for _, target := range targets {
					require.Equal(t, whole.leaseRoot(target.ID), reader.graph.leaseRoot(target.ID), "store %d, %+v", store, request)
				}
				decided[len(targets)]++
			}
		}
	}
	for size := 1; size <= 4; size++ {
		assert.Greater(t, decided[size], 10, "the stores are no test: %v", decided)
	}
}

// randomStore replaces all sessions by a dozen that hang together somehow, in circles too.
func randomStore(t *testing.T, db *sql.DB, random *rand.Rand) []string {
	t.Helper()
	_, err := db.Exec("DELETE FROM sessions")
	require.NoError(t, err)
	pick := func(choices ...any) any { return choices[random.IntN(len(choices))] }
	ids := make([]string, 12)
	for i := range ids {
		ids[i] = fmt.Sprintf("s%02d", i)
	}
	anyID := func() string { return ids[random.IntN(len(ids))] }
	for i, id := range ids {
		var parent any
		switch {
		case random.IntN(12) == 0:
			parent = anyID()
		case i > 0 && random.IntN(6) > 0:
			parent = ids[random.IntN(i)]
		}
		config := pick(nil, nil, "", "{}", "broken", fmt.Sprintf(`{"_delegate_from":"%s"}`, anyID()), fmt.Sprintf(`{"_delegate_from":"%s"}`, anyID()),
			fmt.Sprintf(`{"\u005fdelegate_from":"%v"}`, parent), fmt.Sprintf(`{"_delegate_from":"%v"}`, parent),
			fmt.Sprintf(`{"_branched_from":"%s"}`, anyID()), fmt.Sprintf(`{"_reset_from":"%v"}`, parent))
		_, err := db.Exec("INSERT INTO sessions (id, source, session_source, parent_session_id, model_config, end_reason, started_at, ended_at) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?)", id, pick("cli", "cli", "cli", "subagent", "tool"), pick(nil, nil, nil, nil, "fork"), parent, config,
			pick(nil, "compression", "compression", "cli_close", "branched", "done"), 100+random.IntN(3), pick(nil, 101.0, 102.5, ""))
		require.NoError(t, err)
	}
	return ids
}

// readEverything makes the graph of the whole store.
func readEverything(t *testing.T, home *sidecartest.Home, c *conn, s *schema) *graph {
	t.Helper()
	reader, err := c.readLineage(t.Context(), s, asPython)
	require.NoError(t, err)
	var rows []*session
	for _, id := range home.Query("SELECT id FROM sessions ORDER BY random()") {
		require.NoError(t, reader.read(t.Context(), []string{id}, "", nil))
		rows = append(rows, reader.graph.rows[id])
	}
	return graphFrom(rows...)
}

// The columns come over as they are: a column's declared type must not turn a number into a time.
func TestValuesAsTheStoreHoldsThem(t *testing.T) {
	home := newHome(t)
	home.Create("CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, started_at TIMESTAMP, ended_at DATETIME, source BOOLEAN)",
		"INSERT INTO sessions VALUES ('number', NULL, 1790000000, 1790000000.5, 'cli'), ('text', 'number', '1_0', '2026-01-01T00:00:00Z', NULL)",
		"INSERT INTO sessions VALUES (NULL, 'number', 1, 1, 'x'), (x'41', 'number', 1, 1, 'x'), ('below', x'41', 1, 1, 'x')")
	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	reader, err := c.readLineage(t.Context(), s, asPython)
	require.NoError(t, err)
	require.NoError(t, reader.surroundings(t.Context(), []string{"number"}))
	require.NoError(t, reader.ancestors(t.Context(), []string{"below"}))
	assert.Equal(t, []string{"below", "number", "text"}, sortedKeys(reader.graph.rows), "an id that is no text names nothing")
	number, text := reader.graph.rows["number"], reader.graph.rows["text"]
	assert.Equal(t, []any{int64(1790000000), 1790000000.5, new("cli")}, []any{number.startedAt, number.endedAt, number.source})
	assert.Equal(t, []any{"1_0", "2026-01-01T00:00:00Z", (*string)(nil)}, []any{text.startedAt, text.endedAt, text.source})
	assert.Equal(t, markers{readable: true}, number.markers, "a missing column reads as NULL")
}

// Long ways are read with few statements, and circles end.
func TestLongAndRoundWays(t *testing.T) {
	home := newStore(t, `WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
		INSERT INTO sessions (id, source, parent_session_id, started_at, end_reason)
		SELECT printf('%04d', i), iif(i < 1500, 'cli', 'subagent'), iif(i = 0, '2999', printf('%04d', i - 1)), 1, iif(i < 1499, 'compression', 'done') FROM n`)
	tx := begin(t, home)
	plan, err := tx.Plan(t.Context(), Request{SessionID: "1499"})
	require.NoError(t, err)
	assert.Len(t, plan.Targets, 1501)
	assert.Equal(t, "2999", plan.Targets[1500].ID)
	err = tx.Remove(t.Context(), plan)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"1499|0000|NULL"}, home.Query("SELECT count(*), min(id), (SELECT parent_session_id FROM sessions WHERE id = '0000') FROM sessions"))
	home.RequireSound()
}

package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// planFor asks for a plan and gives the write lock back.
func planFor(t *testing.T, home *sidecartest.Home, request Request) (*Plan, error) {
	t.Helper()
	tx := begin(t, home)
	plan, err := tx.Plan(t.Context(), request)
	require.NoError(t, tx.Rollback())
	return plan, err
}

func TestPlans(t *testing.T) {
	home := threeSegments(t) // a, b, c in a chain, and another
	home.Exec(`INSERT INTO sessions (id, source, parent_session_id, started_at, model_config) VALUES ('d', 'subagent', 'c', 4, NULL),
		('kept', 'cli', 'a', 1, '{"_branched_from":"a"}')`)
	for name, test := range map[string]struct {
		request Request
		want    []Target
		existed bool
	}{
		"one alone":              {Request{SessionID: "b"}, []Target{{ID: "b", Why: WhyRequested}}, true},
		"with its lineage":       {Request{SessionID: "b", WithLineage: true}, []Target{{ID: "c", Why: WhyCompression}, {ID: "d", Why: WhyDelegate}, {ID: "b", Why: WhyRequested}}, true},
		"the newest alone":       {Request{SessionID: "c", WithLineage: true}, []Target{{ID: "c", Why: WhyRequested}, {ID: "d", Why: WhyDelegate}}, true},
		"the whole from the tip": {Request{SessionID: "c", WholeConversation: true}, []Target{{ID: "c", Why: WhyRequested}, {ID: "d", Why: WhyDelegate}, {ID: "b", Why: WhyCompression}, {ID: "a", Why: WhyCompression}}, true},
		"the whole from amidst":  {Request{SessionID: "b", WholeConversation: true, WithLineage: true}, []Target{{ID: "c", Why: WhyCompression}, {ID: "d", Why: WhyDelegate}, {ID: "b", Why: WhyRequested}, {ID: "a", Why: WhyCompression}}, true},
		"the whole of a branch":  {Request{SessionID: "kept", WholeConversation: true}, []Target{{ID: "kept", Why: WhyRequested}}, true},
		"of a delegate":          {Request{SessionID: "d", WholeConversation: true}, []Target{{ID: "d", Why: WhyRequested}}, true},
		"of nobody":              {Request{SessionID: "lost", WholeConversation: true}, []Target{{ID: "lost", Why: WhyRequested}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := planFor(t, home, test.request)
			require.NoError(t, err)
			assert.Equal(t, test.want, plan.Targets)
			assert.Equal(t, idsOf(test.want), plan.IDs())
			assert.Equal(t, test.existed, plan.Existed)
			assert.Equal(t, PathLegacy, plan.Path)
		})
	}
	assert.Len(t, home.Query("SELECT id FROM sessions"), 6, "a plan changes nothing")
}

// From the first segment two ways lead on: nobody can say that what was asked for is the one meant.
func TestAWholeConversationThatForks(t *testing.T) {
	home := threeSegments(t)
	home.Exec("INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('b2', 'cli', 'a', 2)")
	for _, id := range []string{"b", "c", "b2"} {
		_, err := planFor(t, home, Request{SessionID: id, WholeConversation: true})
		requireDetail(t, err, ErrLineageAmbiguous, id)
		var failure *Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, PathLegacy, failure.Path)
	}
	plan, err := planFor(t, home, Request{SessionID: "a", WholeConversation: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, plan.IDs())
	plan, err = planFor(t, home, Request{SessionID: "b", WithLineage: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"c", "b"}, plan.IDs())
}

// Which path a store with the runtime ledger takes is decided by what it holds and by the Agent alone.
func TestTheCanonicalPathIsTaken(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema, sessionX)
	for name, c := range map[string]struct {
		agent Agent
		want  Path
	}{
		"of an Agent that nobody named": {Agent{}, PathCanonical},
		"of one that can retire":        {Agent{Known: true, CanRetire: true}, PathCanonical},
		"of one that is older":          {Agent{Known: true}, PathLegacy},
	} {
		plan, err := planFor(t, home, Request{SessionID: "x", Circumstances: Circumstances{Agent: c.agent}})
		require.NoError(t, err, name)
		assert.Equal(t, c.want, plan.Path, name)
		assert.Equal(t, c.want == PathCanonical, plan.retirement != nil, name)
		assert.Equal(t, []string{"x"}, plan.IDs(), name)
	}

	tx := begin(t, home)
	_, err := remove(t, tx, "x")
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"gateway.retired_session.v1.x"}, home.Query("SELECT key FROM state_meta"))
}

// A ledger whose tables have other columns than we know is never taken for the older kind of store.
func TestALedgerOfAnotherShape(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema, sessionX)
	for table, columns := range canonicalColumns {
		for _, column := range columns {
			home.Exec("ALTER TABLE " + table + " RENAME COLUMN " + column + " TO renamed")
			_, err := planFor(t, home, Request{SessionID: "x"})
			requireDetail(t, err, ErrUnsupported, "table "+table+" has no column "+column)
			var failure *Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, PathCanonical, failure.Path)
			home.Exec("ALTER TABLE " + table + " RENAME COLUMN renamed TO " + column)
		}
	}
	_, err := planFor(t, home, Request{SessionID: "x"})
	require.NoError(t, err)
}

// The oldest store that is served: nothing but what the rules need.
func TestTheLeastStore(t *testing.T) {
	home := newHome(t)
	home.Create(
		"CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT REFERENCES sessions(id))",
		"CREATE TABLE messages (session_id TEXT REFERENCES sessions(id), content TEXT)",
		"CREATE TABLE compression_locks (session_id TEXT, holder TEXT, expires_at REAL)",
		"CREATE TABLE session_turn_leases (conversation_id TEXT, holder TEXT, expires_at REAL)",
		"INSERT INTO sessions VALUES ('x', NULL), ('child', 'x')", "INSERT INTO messages VALUES ('x', 'hello'), ('child', 'world')",
	)
	tx := begin(t, home)
	plan, err := tx.Plan(t.Context(), Request{SessionID: "x", WholeConversation: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, plan.IDs())
	require.NoError(t, tx.Remove(t.Context(), plan))
	assert.Empty(t, plan.StaleIndexes)
	assert.Empty(t, plan.LeftBehind)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{"child|NULL"}, home.Query("SELECT * FROM sessions"))
	assert.Equal(t, []string{"child|world"}, home.Query("SELECT * FROM messages"))
}

package statedb

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

// TestANameIsFoundAmongMany fills several blocks of an index.
func TestANameIsFoundAmongMany(t *testing.T) {
	x := newNameIndex()
	const many = 2*blockSize + 7
	for i := range many {
		x.add(fmt.Sprintf("s%d", i), int64(i))
		if i%1000 == 0 {
			x.add("often", int64(i))
		}
	}
	x.addAlways(-5)
	x.finish()
	for _, i := range []int64{0, 1, blockSize - 1, blockSize, blockSize + 1, 2*blockSize - 1, 2 * blockSize, many - 1} {
		require.Equal(t, []int64{-5, i}, x.candidates([]string{fmt.Sprintf("s%d", i)}))
	}
	require.Len(t, x.candidates([]string{"often"}), many/1000+2)
	require.Equal(t, []int64{-5, 3, 100000}, x.candidates([]string{"s100000", "s3", "s3", "nobody"}))
	require.Equal(t, []int64{-5}, x.candidates(nil))
	x.note(3)
	require.Equal(t, []int64{-5, 3}, x.candidates([]string{"s3"}))

	for i := range 3 * fewNames {
		x.addMore()
		x.add(fmt.Sprintf("later%d", i), int64(i))
		x.finish()
	}
	require.Less(t, len(x.blocks), 10)
	require.Equal(t, []int64{-5, 3, 7, 2 * fewNames}, x.candidates([]string{"later7", fmt.Sprintf("later%d", 2*fewNames)}))
}

// surveyedDelete deletes one session over a look, as a delete does.
func surveyedDelete(t *testing.T, l *Look, agent Agent, id string) *Plan {
	t.Helper()
	require.NoError(t, l.Again(t.Context()))
	takeSurvey(t, l, agent)
	tx, holds, err := l.Begin(t.Context(), time.Second)
	require.NoError(t, err)
	require.True(t, holds)
	plan, err := tx.Plan(t.Context(), Request{SessionID: id, Circumstances: Circumstances{Agent: agent}})
	require.NoError(t, err)
	require.NoError(t, tx.Remove(t.Context(), plan))
	require.NoError(t, tx.Commit())
	require.NoError(t, l.Rest())
	return plan
}

// A child that lost its parent is named from elsewhere: who deletes the parent once more, for what it may have left, takes it along.
func TestASurveyKnowsTheChildrenThatItMadeRoots(t *testing.T) {
	home := newStore(t, `INSERT INTO sessions (id, source, parent_session_id, model_config, started_at, ended_at, end_reason) VALUES
		('x', 'cli', NULL, NULL, 1, 2, 'compression'), ('worker', 'subagent', 'x', '{"_delegate_from": "x"}', 1, NULL, NULL)`)
	l := startLook(t, home)
	require.Equal(t, []string{"x"}, surveyedDelete(t, l, Agent{}, "x").IDs())
	require.NotNil(t, l.conn.surveyOf(markersAsPython))
	require.Equal(t, []string{"x", "worker"}, surveyedDelete(t, l, Agent{}, "x").IDs())
}

// A record that was rewritten may name another session: of a name that stood there twice SQLite found the other one.
func TestASurveyKnowsTheRecordsThatItRewrote(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema, sessionX,
		`INSERT INTO state_meta VALUES ('gateway.mutation.v1.m', '{"result": {"session_id": "y", "session_id": "x", "title": "t"}}')`)
	l := startLook(t, home)
	receipts := []Counted{{"mutation_receipts", 1, "an exact retry of a change is still known, without its text"}}
	require.Equal(t, receipts, surveyedDelete(t, l, Agent{}, "y").Retained)
	require.NotNil(t, l.conn.surveyOf(mutationReceipts))
	require.Equal(t, receipts, surveyedDelete(t, l, Agent{}, "x").Retained)
}

// What a delete changes is read again before the next one: else that would look at a few rows more each time, and in the end at all.
func TestWhatADeleteChangedIsReadAgain(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema)
	for i := range 10 {
		home.Exec(fmt.Sprintf(`INSERT INTO sessions (id, source, parent_session_id, model_config, started_at) VALUES
			('x%[1]d', 'cli', NULL, NULL, 1), ('kept%[1]d', 'cli', 'x%[1]d', '{"_branched_from": "x%[1]d"}', 1)`, i),
			fmt.Sprintf(`INSERT INTO state_meta VALUES ('gateway.mutation.v1.%[1]d', '{"result": {"session_id": "x%[1]d", "title": "t"}}')`, i))
	}
	l := startLook(t, home)
	for i := range 9 {
		surveyedDelete(t, l, Agent{}, fmt.Sprintf("x%d", i))
	}
	takeSurvey(t, l, Agent{})
	for _, of := range []nameSource{markersAsSQLite, mutationReceipts} {
		require.Contains(t, l.conn.survey.found, of)
		require.Equal(t, onlyRows(nil), l.conn.narrow(of, []string{"nobody"}), of)
	}
	require.NotEqual(t, onlyRows(nil), l.conn.narrow(mutationReceipts, []string{"x9"}))
}

// An Agent may be installed anew between two deletes: the one that knew no retirement leaves prompts behind that the other removes.
func TestASurveyOutlivesAnotherPath(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO system_prompts VALUES ('h', 'be kind')`,
		`INSERT INTO sessions (id, source, system_prompt_hash, started_at) VALUES ('x', 'cli', NULL, 1), ('y', 'cli', 'h', 1), ('z', 'cli', NULL, 1)`)
	l := startLook(t, home)
	surveyedDelete(t, l, Agent{}, "x")
	surveyedDelete(t, l, Agent{Known: true}, "y")
	require.Len(t, home.Query("SELECT hash FROM system_prompts"), 1)
	surveyedDelete(t, l, Agent{}, "z")
	require.Empty(t, home.Query("SELECT hash FROM system_prompts"))
}

// What changes the surveyed tables behind our back is passed over each time.
func TestAStoreThatCannotBeSurveyed(t *testing.T) {
	const audit = "CREATE TABLE audit (n); CREATE TRIGGER t AFTER DELETE ON messages BEGIN "
	for statement, can := range map[string]bool{
		"SELECT 1": true,
		audit + "INSERT INTO audit VALUES (1); END":    true,
		audit + "DELETE FROM session_model_usage; END": true,
		"CREATE TABLE sessions_archive (n); CREATE TRIGGER t AFTER DELETE ON messages BEGIN UPDATE sessions_archive SET n = 1; END": true,
		audit + "UPDATE sessions SET title = 'x'; END":                                              false,
		audit + "UPDATE\nOR IGNORE\n\"sessions\" SET title = 'x'; END":                              false,
		audit + "UPDATE\"sessions\"SET title = 'x'; END":                                            false,
		audit + "INSERT INTO[state_meta]VALUES ('a', 'b'); END":                                     false,
		audit + "REPLACE INTO `state_meta` VALUES ('a', 'b'); END":                                  false,
		audit + "DELETE FROM'gateway_routing'; END":                                                 false,
		audit + "INSERT INTO audit VALUES (1); DELETE FROM SYSTEM_PROMPTS; END":                     false,
		audit + "UPDATE /* */ sessions SET title = 'x'; END":                                        false,
		audit + "UPDATE -- \n sessions SET title = 'x'; END":                                        false,
		audit + "INSERT INTO audit VALUES (1); -- DELETE FROM sessions\n END":                       true,
		audit + "INSERT INTO audit VALUES ('--'); DELETE/**/FROM sessions; END":                     false,
		audit + "INSERT INTO audit VALUES ('it''s /* '); DELETE FROM sessions; END":                 false,
		"ALTER TABLE sessions ADD COLUMN fork TEXT REFERENCES sessions(id) ON DELETE CASCADE":       false,
		"ALTER TABLE sessions ADD COLUMN fork TEXT REFERENCES sessions(id) ON/**/DELETE--\nCASCADE": false,
		"ALTER TABLE sessions ADD COLUMN fork TEXT /* on delete cascade */":                         true,
		"ALTER TABLE sessions ADD COLUMN fork TEXT REFERENCES sessions(id) ON DELETE SET DEFAULT":   false,
		"ALTER TABLE sessions ADD COLUMN fork TEXT REFERENCES sessions(id) ON DELETE SET NULL":      true,
	} {
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema, statement)
		l := startLook(t, home)
		takeSurvey(t, l, Agent{})
		require.Equal(t, can, l.conn.survey != nil, statement)
	}
}

// Rows without numbers of that name are passed over, and the others are surveyed all the same.
func TestASurveyOfOddTables(t *testing.T) {
	for _, change := range []struct{ from, to string }{
		{"state_meta (key TEXT PRIMARY KEY, value TEXT)", "state_meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"},
		{"state_meta (key TEXT PRIMARY KEY, value TEXT)", "state_meta (key TEXT PRIMARY KEY, value TEXT, rowid TEXT)"},
		{"state_meta (key TEXT PRIMARY KEY, value TEXT)", "state_meta (key TEXT PRIMARY KEY, value TEXT)"},
	} {
		home := newHome(t)
		home.Create(strings.Replace(fixtures.RuntimeSchema, change.from, change.to, 1), sessionX,
			`INSERT INTO state_meta (key, value) VALUES ('gateway.api.conversation.v1.n', 'x'), ('gateway.mutation.v1.m', '{"result":{"session_id":"x","title":"t"}}'),
			('gateway.no JSON', '{"session_id":'), ('gateway.mutation.v1.no', '{"result"')`)
		l := startLook(t, home)
		surveyedDelete(t, l, Agent{}, "y")
		require.NotNil(t, l.conn.survey)
		require.Equal(t, change.from == change.to, l.conn.surveyOf(mutationReceipts) != nil)
		surveyedDelete(t, l, Agent{}, "x")
		require.Empty(t, home.Query("SELECT 1 FROM state_meta WHERE key = 'gateway.api.conversation.v1.n' OR instr(value, '\"t\"')"))
	}
}

// A malformed record makes no survey fail: it would be given up for good, and nobody would notice.
func TestASurveyOfMalformedRecords(t *testing.T) {
	home := newStore(t, sessionX, `INSERT INTO state_meta VALUES ('gateway.a', '{"session_id":'), ('gateway.b', 'x'), ('gateway.c', X'7b'), ('gateway.d', NULL),
		('gateway.e', 7), ('gateway.f', '[1]'), ('gateway.g', '{"lineage":"x","entry":"x"}')`,
		`INSERT INTO gateway_routing (session_key, entry_json, updated_at) VALUES ('k', '{"session_id', 1)`)
	l := startLook(t, home)
	takeSurvey(t, l, Agent{})
	require.NotNil(t, l.conn.survey)
	require.NotNil(t, l.conn.surveyOf(historyValues))
	surveyedDelete(t, l, Agent{}, "x")
}

// What is not certainly all that a field names is looked at closely.
func TestNamesInARecord(t *testing.T) {
	for _, c := range []struct {
		key, kind, text string
		names           []string
		plain           bool
	}{
		{"session_id", "text", "a", []string{"a"}, true},
		{"lineage", "array", `["a",["b"],5,{"session_id":"c"},"d"]`, []string{"a", "d"}, true},
		{"lineage", "array", `["\u0061"]`, nil, false},
		{"lineage", "array", `["a",1e999]`, nil, false},
		{"entry", "object", `{"session_id":"a","t":["x"]}`, []string{"a"}, true},
		{"entry", "object", `{"session_id":5}`, nil, true},
		{"entry", "object", `{"t":1}`, nil, true},
		{"entry", "object", `{"session_id":"a","session_id":"b"}`, nil, false},
		{"entry", "object", `{"x":{"session_id":"b"},"session_id":"a"}`, nil, false},
		{"entry", "object", `{"sess\u0069on_id":"a"}`, nil, false},
		{"entry", "object", `{"session_id":"\u0061"}`, nil, false},
		{"entry", "object", `{"session_id":"a","n":1e999}`, nil, false},
	} {
		names, plain := namesIn(c.key, c.kind, c.text)
		require.Equal(t, c.plain, plain, c.text)
		require.Equal(t, c.names, names, c.text)
	}
}

func takeSurvey(t require.TestingT, l *Look, agent Agent) {
	_, err := l.Survey(context.Background(), agent)
	require.NoError(t, err)
}

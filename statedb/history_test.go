package statedb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// downgraded is a store with the runtime ledger whose Agent is older. The family of x is x, the delegate d, what
// continues x (c) and what x continues (p); b is a branch and o another session.
func downgraded(t *testing.T, more ...string) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	home.Create(append([]string{
		fixtures.RuntimeSchema,
		`INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason, chat_id, model_config) VALUES
			('p', 'cli', NULL, 1, 2, 'compression', NULL, NULL), ('x', 'cli', 'p', 2, 3, 'compression', 'chat', NULL),
			('c', 'cli', 'x', 3, NULL, NULL, 'chat-c', ''), ('d', 'subagent', 'x', 3, NULL, NULL, '', NULL),
			('b', 'cli', 'x', 3, NULL, NULL, 'chat-b', '{"_branched_from":"x"}'), ('o', 'cli', NULL, 1, NULL, NULL, 'chat-o', NULL)`,
	}, more...)...)
	return home
}

func admission(target string) string {
	return strings.ReplaceAll(`INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json,
		payload_digest, intent, status, owner_epoch) VALUES ('a', 'r', 'p', '?', '[]', '{}', '', 'turn', 'terminal', 1)`, "?", target)
}

func execution(session string) string {
	return "INSERT INTO worker_executions VALUES ('e', '" + session + "', 1, 1, 'turn', '', 'terminal')"
}

func meta(key, value string) string {
	return "INSERT INTO state_meta VALUES ('" + key + "', '" + value + "')"
}

func requireFenced(t *testing.T, home *sidecartest.Home, fenced bool, place string) {
	t.Helper()
	tx := begin(t, home)
	_, err := tx.Plan(t.Context(), Request{SessionID: "x", Circumstances: Circumstances{Agent: older}})
	require.NoError(t, tx.Rollback())
	if !fenced {
		require.NoError(t, err)
		return
	}
	requireDetail(t, err, ErrRuntimeHistory, place)
	var failure *Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, PathLegacy, failure.Path)
}

// Contract 5.5: what names a member of the family.
func TestDowngradeFence(t *testing.T) {
	for name, test := range map[string]struct {
		statement string
		fenced    bool
		place     string
	}{
		"nothing":                       {"SELECT 1", false, ""},
		"an admission":                  {admission("x"), true, "session_admissions"},
		"an admission of what goes on":  {admission("c"), true, "session_admissions"},
		"an admission of its parent":    {admission("p"), true, "session_admissions"},
		"an admission of a delegate":    {admission("d"), true, "session_admissions"},
		"an admission of a branch":      {admission("b"), false, ""},
		"an admission of another":       {admission("o"), false, ""},
		"a worker":                      {execution("x"), true, "worker_executions"},
		"a worker of its parent":        {execution("p"), true, "worker_executions"},
		"a worker of another":           {execution("o"), false, ""},
		"receipts alone":                {"INSERT INTO worker_receipts VALUES ('x', 1, '', '')", false, ""},
		"a policy":                      {meta("gateway.local_policy.v1:x", ""), true, "keys"},
		"a policy of the chat":          {meta("gateway.local_policy.v1:chat", "{}"), true, "keys"},
		"a policy of the family's chat": {meta("gateway.local_policy.v1:chat-c", "broken"), true, "keys"},
		"a policy of a branch's chat":   {meta("gateway.local_policy.v1:chat-b", "{}"), false, ""},
		"a policy of nobody":            {meta("gateway.local_policy.v1:", "{}"), false, ""},
		"a policy with a longer name":   {meta("gateway.local_policy.v1:x2", "{}"), false, ""},
		"a policy of another form":      {meta("gateway.local_policy.v1.x", "{}"), false, ""},
		"a tombstone":                   {meta("gateway.retired_session.v1.x", "{}"), true, "keys"},
		"a tombstone of a delegate":     {meta("gateway.retired_session.v1.d", ""), true, "keys"},
		"a tombstone of a chat":         {meta("gateway.retired_session.v1.chat", "{}"), false, ""},
		"a tombstone of another form":   {meta("gateway.retired_session.v1:x", "{}"), false, ""},
	} {
		t.Run(name, func(t *testing.T) { requireFenced(t, downgraded(t, test.statement), test.fenced, test.place) })
	}
}

func TestValuesThatNameTheFamily(t *testing.T) {
	home := downgraded(t)
	for value, fenced := range map[string]bool{
		`{"session_id":"x"}`:                      true,
		`{"session_id":"c"}`:                      true,
		`{"target_session_id":"d"}`:               true,
		`{"entry":{"session_id":"p"}}`:            true,
		`{"entry":{"a":1,"session_id":"x"}}`:      true,
		`{"lineage":["o","x"]}`:                   true,
		`{"lineage":[1,null,{},"x"]}`:             true,
		`{"session_id":"o","session_id":"x"}`:     true,
		`{"session_id":"x","session_id":"o"}`:     true,
		`{"session_id":"x","session_id":null}`:    true,
		`{"entry":{"session_id":"x"},"entry":{}}`: true,
		`{"session\u005fid":"\u0078"}`:            true,
		` {"a":[{"b":{}}], "session_id" : "x" } `: true,
		`{"session_id":"b"}`:                      false,
		`{"session_id":"o"}`:                      false,
		`{"session_id":"chat"}`:                   false,
		`{"session_id":"X"}`:                      false,
		`{"Session_id":"x"}`:                      false,
		`{"session_id":["x"]}`:                    false,
		`{"session_id":{"session_id":"x"}}`:       false,
		`{"lineage":"x"}`:                         false,
		`{"lineage":[["x"]]}`:                     false,
		`{"lineage":{"a":"x"}}`:                   false,
		`{"entry":"x"}`:                           false,
		`{"entry":[{"session_id":"x"}]}`:          false,
		`{"entry":{"target_session_id":"x"}}`:     false,
		`{"result":{"session_id":"x"}}`:           false,
		`{"x":"session_id"}`:                      false,
		`[{"session_id":"x"}]`:                    false,
		`"x"`:                                     false,
		`{"session_id":"x"`:                       false,
		``:                                        false,
	} {
		for key, looked := range map[string]bool{
			"gateway.mutation.v1.a": true, "gateway.": true, "gateway.zz\uffff": true, "gateway": false, "gatewayx": false,
			"gateway/a": false, "Gateway.a": false, "other.gateway.a": false, "sidecar.a": false,
		} {
			home.Exec("DELETE FROM state_meta", meta(key, value))
			requireFenced(t, home, fenced && looked, "values")
		}
	}
}

// The fence comes before the guards, and both before anything is removed.
func TestTheFenceComesBeforeTheGuards(t *testing.T) {
	home := downgraded(t, admission("p"), lock("x", "h", future))
	requireFenced(t, home, true, "session_admissions")
}

func TestMissingHistoryNamesNothing(t *testing.T) {
	home := downgraded(t, drop("session_admissions", "worker_executions", "worker_receipts", "state_meta", "gateway_routing")...)
	requireFenced(t, home, false, "")
	home = downgraded(t, "ALTER TABLE state_meta RENAME COLUMN value TO v", meta("gateway.retired_session.v1.x", "{}"))
	requireFenced(t, home, false, "")
}

// The family is grown by what only the store knows: the reader reads on until nothing new can join.
func TestTheFamilyIsReadToItsEnd(t *testing.T) {
	home := downgraded(t, `INSERT INTO sessions (id, source, parent_session_id, started_at, end_reason, model_config) VALUES
		('far', 'cli', NULL, 1, 'compression', '{"_delegate_from":"c"}'), ('farther', 'cli', 'far', 2, NULL, '{"_delegate_from":"c"}'),
		('farthest', 'subagent', 'farther', 2, NULL, NULL)`)
	for _, id := range []string{"far", "farther", "farthest"} {
		home.Exec("DELETE FROM state_meta", meta("gateway.retired_session.v1."+id, "{}"))
		requireFenced(t, home, true, "keys")
	}
}

func TestFamiliesOfManySessions(t *testing.T) {
	home := downgraded(t, `WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 1499)
		INSERT INTO sessions (id, source, started_at, model_config, chat_id) SELECT printf('%04d', i), 'cli', 1, '{"_delegate_from":"x"}', 'chat-' || i FROM n`)
	requireFenced(t, home, false, "")
	home.Exec(meta("gateway.local_policy.v1:chat-1234", "{}"))
	requireFenced(t, home, true, "keys")
	home.Exec("DELETE FROM state_meta", meta("gateway.a", `{"lineage":["1400"]}`))
	requireFenced(t, home, true, "values")
	home.Exec("DELETE FROM state_meta", admission("1499"))
	requireFenced(t, home, true, "session_admissions")
}

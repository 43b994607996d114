package statedb

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// localOwner is the id that Python makes of the profile p, the principal human and the request req-1.
const localOwner = "local-e10b395667956e750e034f2710ab49ae0a5f2bdd22d1a348eca2b95a7db25237"

// localPolicy is the policy of localStore's conversation.
func localPolicy() map[string]any {
	return map[string]any{
		"session_id": localOwner, "profile_id": "p", "principal_id": "human", "request_id": "req-1", "route": "agent:main:local:1",
		"entry": map[string]any{"session_id": "c"}, "policy": map[string]any{"source": "cli"}, "lineage": []any{localOwner, "b", "c"},
	}
}

// localRowsSQL are the rows of that conversation: the owner was compressed, b reset, and c is what the chat is in now. side
// is a delegate that carries the chat too, as the Agent's delegates do.
const localRowsSQL = `INSERT INTO sessions (id, source, user_id, session_key, chat_id, parent_session_id, started_at, ended_at, end_reason, model_config) VALUES
	('` + localOwner + `', 'cli', 'human', 'agent:main:local:1', '` + localOwner + `', NULL, 1, 2, 'compression', NULL),
	('b', 'cli', 'human', 'agent:main:local:1', '` + localOwner + `', '` + localOwner + `', 2, 3, 'session_reset', '{}'),
	('c', 'cli', 'human', 'agent:main:local:1', '` + localOwner + `', 'b', 3, NULL, NULL, '{"_reset_from":"b"}'),
	('side', 'subagent', 'human', 'agent:main:local:1', '` + localOwner + `', '` + localOwner + `', 2, NULL, NULL, '{"_delegate_from":"` + localOwner + `"}')`

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// localStore is a store with that conversation under that record.
func localStore(t *testing.T, record string, more ...string) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	home.Create(append([]string{fixtures.RuntimeSchema, localRowsSQL}, more...)...)
	putPolicy(t, home, localOwner, record)
	return home
}

func putPolicy(t *testing.T, home *sidecartest.Home, owner string, value any) {
	t.Helper()
	_, err := home.Open().Exec("INSERT INTO state_meta VALUES (?, ?)", localPolicyPrefix+owner, value)
	require.NoError(t, err)
}

// membersOf asks the store whose conversation an id is in.
func membersOf(t *testing.T, home *sidecartest.Home, id string) ([]string, error) {
	t.Helper()
	c := connect(t, home)
	s, err := c.readSchema(t.Context())
	require.NoError(t, err)
	return c.localMembers(t.Context(), s, id)
}

func requireMembers(t *testing.T, home *sidecartest.Home, id string, want ...string) {
	t.Helper()
	got, err := membersOf(t, home, id)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// Policies that hold, so that the truth table below breaks nothing but what it says.
func TestPoliciesThatHold(t *testing.T) {
	change := func(key string, value any) string { r := localPolicy(); r[key] = value; return asJSON(t, r) }
	for name, test := range map[string]struct {
		record     string
		statements []string
	}{
		"as it is":                {asJSON(t, localPolicy()), nil},
		"the last of two keys":    {strings.Replace(asJSON(t, localPolicy()), "{", `{"session_id":"x","lineage":null,`, 1), nil},
		"another case beside":     {strings.Replace(asJSON(t, localPolicy()), "{", `{"Lineage":["x"],"SESSION_ID":"x",`, 1), nil},
		"escapes and white space": {strings.NewReplacer(`{`, " {\n", "lineage", `line\u0061ge`, `"b"`, `"\u0062"`).Replace(asJSON(t, localPolicy())), nil},
		"what only Python knows":  {strings.Replace(asJSON(t, localPolicy()), "{", `{"n":NaN,"big":1e999,`, 1), nil},
		"a null that is no field": {change("origin", nil), nil},
		"1,000,000 characters":    {change("pad", strings.Repeat("é", maxPolicyCharacters-len(asJSON(t, localPolicy()))-len(`,"pad":""`))), nil},
		"the owner is a tool's":   {asJSON(t, localPolicy()), []string{`UPDATE sessions SET source = 'tool' WHERE id = '` + localOwner + `'`}},
		"the owner is marked": {asJSON(t, localPolicy()), []string{
			`UPDATE sessions SET model_config = '{"_branched_from":"x","_delegate_from":"y","_reset_from":"z"}' WHERE id = '` + localOwner + `'`,
		}},
		"an empty config": {asJSON(t, localPolicy()), []string{`UPDATE sessions SET model_config = '' WHERE id = 'b'`}},
		"a config of Python's": {asJSON(t, localPolicy()), []string{
			`UPDATE sessions SET model_config = '{"t":NaN,"_reset_from":"x","\u005freset_from":"b"}' WHERE id = 'c'`,
		}},
		"others at its side": {asJSON(t, localPolicy()), []string{
			`INSERT INTO sessions (id, source, parent_session_id, started_at, model_config) VALUES ('t', 'tool', '` + localOwner + `', 9, NULL),
				('m', 'cli', '` + localOwner + `', 9, '{"_branched_from":"x"}'), ('n', 'cli', 'b', 9, NULL), ('l', 'cli', 'c', 9, NULL)`,
		}},
		"the last was compressed": {asJSON(t, localPolicy()), []string{
			`UPDATE sessions SET ended_at = 9, end_reason = 'compression' WHERE id = 'c'`,
			`INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('t', 'tool', 'c', 9)`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			home := localStore(t, test.record, test.statements...)
			for _, id := range []string{localOwner, "b", "c"} {
				requireMembers(t, home, id, localOwner, "b", "c")
			}
			requireMembers(t, home, "side", "side") // its chat's policy holds, and does not list it
		})
	}
}

// Contract 5b.1, each rule broken once in the conversation that holds otherwise. A delete of whatever carries the chat is
// refused, with one line that says which rule it was.
func TestPoliciesThatDoNotHold(t *testing.T) {
	with := func(key string, value any) string { r := localPolicy(); r[key] = value; return asJSON(t, r) }
	without := func(key string) string { r := localPolicy(); delete(r, key); return asJSON(t, r) }
	renamed := func(key, name string) string {
		r := localPolicy()
		r[name] = r[key]
		delete(r, key)
		return asJSON(t, r)
	}
	lineage := func(ids ...any) string { return with("lineage", append([]any{}, ids...)) }
	const update = `UPDATE sessions SET `
	row := func(set, id string) []string { return []string{update + set + ` WHERE id = '` + id + `'`} }
	fine := asJSON(t, localPolicy())
	for name, test := range map[string]struct {
		record     string
		statements []string
		detail     string
	}{
		"a list":                {"[" + fine + "]", nil, "no JSON object"},
		"null":                  {"null", nil, "no JSON object"},
		"empty":                 {"", nil, "no JSON object"},
		"cut off":               {fine[:len(fine)-1], nil, "no JSON object"},
		"no UTF-8":              {strings.Replace(fine, "cli", "\xff", 1), nil, "no JSON object"},
		"1,000,001 characters":  {with("pad", strings.Repeat("é", maxPolicyCharacters+1-len(fine)-len(`,"pad":""`))), nil, "1000000 characters"},
		"another session_id":    {with("session_id", "b"), nil, `it is the policy of "b"`},
		"no session_id":         {without("session_id"), nil, "session_id is no text"},
		"session_id in capital": {renamed("session_id", "Session_id"), nil, "session_id is no text"},
		"a numeric session_id":  {with("session_id", 5), nil, "session_id is no text"},
		"no profile_id":         {without("profile_id"), nil, "profile_id is no text"},
		"another profile_id":    {with("profile_id", "q"), nil, "does not come from its profile, principal and request"},
		"no principal_id":       {with("principal_id", nil), nil, "principal_id is no text"},
		"another principal_id":  {with("principal_id", "q"), append(row(`user_id = 'q'`, localOwner), update+`user_id = 'q'`), "does not come from"},
		"no request_id":         {without("request_id"), nil, "request_id is no text"},
		"another request_id":    {with("request_id", "req-2"), nil, "does not come from"},
		"a request of half a character": {
			strings.Replace(fine, `"req-1"`, `"\ud800"`, 1), nil, "request_id is no text",
		},
		"no entry":               {without("entry"), nil, "entry is no object"},
		"entry null":             {with("entry", nil), nil, "entry is no object"},
		"entry a text":           {with("entry", "c"), nil, "entry is no object"},
		"entry without an id":    {with("entry", map[string]any{"Session_ID": "c"}), nil, "session_id is no text"},
		"no route":               {without("route"), nil, "route is no text"},
		"route null":             {with("route", nil), row(`session_key = NULL`, "c"), "route is no text"},
		"route empty":            {with("route", ""), row(`session_key = NULL`, localOwner), "session_key"},
		"lineage null":           {with("lineage", nil), nil, "lineage is no list"},
		"lineage a text":         {with("lineage", "c"), nil, "lineage is no list"},
		"lineage an object":      {with("lineage", map[string]any{}), nil, "lineage is no list"},
		"lineage empty":          {lineage(), nil, "lineage has 0 members"},
		"an empty id":            {lineage(localOwner, "b", "", "c"), nil, "no session"},
		"a numeric id":           {lineage(localOwner, "b", 5, "c"), nil, "no session"},
		"a null id":              {lineage(localOwner, "b", nil, "c"), nil, "no session"},
		"an id twice":            {lineage(localOwner, "b", "b", "c"), nil, `"b" twice`},
		"the owner twice":        {lineage(localOwner, "b", localOwner, "c"), nil, "twice"},
		"another first":          {lineage("b", "c"), nil, `starts with "b"`},
		"another last":           {lineage(localOwner, "b"), nil, `does not end with its entry, "c"`},
		"an absent lineage":      {without("lineage"), nil, "does not end with its entry"},
		"another entry":          {with("entry", map[string]any{"session_id": "b"}), nil, `does not end with its entry, "b"`},
		"legacy null":            {with("legacy_session_id", nil), nil, "legacy_session_id is no text"},
		"legacy another":         {with("legacy_session_id", "b"), nil, `legacy_session_id is "b"`},
		"legacy without record":  {with("legacy_session_id", localOwner), nil, "no record of the older session"},
		"the first is not there": {fine, []string{`DELETE FROM sessions WHERE id = '` + localOwner + `'`}, "is not there"},
		"one is not there":       {fine, []string{`DELETE FROM sessions WHERE id = 'b'`}, `"b" is not there`},
		"another parent":         {fine, row(`parent_session_id = '`+localOwner+`'`, "c"), `"c" is no child of "b"`},
		"no parent":              {fine, row(`parent_session_id = NULL`, "b"), `"b" is no child of`},
		"closed":                 {fine, row(`end_reason = 'cli_close'`, "b"), `"b" ended neither`},
		"not ended":              {fine, row(`end_reason = NULL`, localOwner), `ended neither`},
		"ended in capitals":      {fine, row(`end_reason = 'Session_reset'`, "b"), `"b" ended neither`},
		"no reset marker":        {fine, row(`model_config = NULL`, "c"), "reset of"},
		"a null reset marker":    {fine, row(`model_config = '{"_reset_from":"b","_reset_from":null}'`, "c"), "reset of"},
		"another reset marker":   {fine, row(`model_config = '{"_reset_from":"`+localOwner+`"}'`, "c"), "reset of"},
		"a list as reset marker": {fine, row(`model_config = '{"_reset_from":["b"]}'`, "c"), "reset of"},
		"another is preferred": {fine, []string{
			`INSERT INTO sessions (id, source, parent_session_id, started_at, end_reason) VALUES ('z', 'cli', '` + localOwner + `', 1, 'compression')`,
		}, `"b" is not the preferred continuation`},
		"the last goes on": {fine, append(row(`end_reason = 'compression'`, "c"),
			`INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('z', 'cli', 'c', 4)`), `"c" goes on in "z"`},
		"the next is a tool's":         {fine, row(`source = 'tool'`, "b"), "not the preferred continuation"},
		"the next is marked":           {fine, row(`model_config = '{"_reset_from":"`+localOwner+`"}'`, "b"), "not the preferred continuation"},
		"a tool's":                     {fine, row(`source = 'tool'`, "c"), `"c" is a tool's`},
		"a branch":                     {fine, row(`model_config = '{"_reset_from":"b","_branched_from":"x"}'`, "c"), `"c" is a branch`},
		"a delegate":                   {fine, row(`model_config = '{"_reset_from":"b","_delegate_from":5}'`, "c"), `"c" is a delegate`},
		"the owner's user":             {fine, row(`user_id = 'other'`, localOwner), "user_id of session"},
		"a member's user":              {fine, row(`user_id = NULL`, "b"), `user_id of session "b"`},
		"the owner's key":              {fine, row(`session_key = NULL`, localOwner), "session_key of session"},
		"a member's key":               {fine, row(`session_key = 'agent:main:local:2'`, "c"), `session_key of session "c"`},
		"the owner's chat":             {fine, row(`chat_id = 'other'`, localOwner), "chat_id of session"},
		"a member's chat":              {fine, row(`chat_id = NULL`, "b"), `chat_id of session "b"`},
		"a user that is no text":       {fine, row(`user_id = CAST('human' AS BLOB)`, "b"), `user_id of session "b"`},
		"a member's config is a list":  {fine, row(`model_config = '[1]'`, "b"), `model_config of session "b"`},
		"a member's config is broken":  {fine, row(`model_config = '{'`, "b"), `model_config of session "b"`},
		"the owner's config is broken": {fine, row(`model_config = 'null'`, localOwner), "model_config of session"},
	} {
		t.Run(name, func(t *testing.T) {
			home := localStore(t, test.record, test.statements...)
			for _, id := range home.Query(`SELECT id FROM sessions WHERE chat_id = ?`, localOwner) {
				_, err := membersOf(t, home, id)
				requireDetail(t, err, ErrReceiptInvalid, localOwner, test.detail)
				assert.NotContains(t, err.Error(), "\n")
			}
		})
	}
}

// A record that is there without being text is no object; a missing one says nothing.
func TestPoliciesThatAreNoText(t *testing.T) {
	for _, value := range []any{nil, 5, []byte(asJSON(t, localPolicy()))} {
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema, localRowsSQL)
		requireMembers(t, home, "c", "c")
		putPolicy(t, home, localOwner, value)
		if value == 5 { // a column of text makes text of it
			home.Exec(`UPDATE state_meta SET value = '5'`)
		}
		_, err := membersOf(t, home, "c")
		requireDetail(t, err, ErrReceiptInvalid, "no JSON object")
	}
}

// The owner of a policy is any text of a row, and is not repeated at any length.
func TestAFaultOfAPolicyIsOfBoundedLength(t *testing.T) {
	home := localStore(t, asJSON(t, localPolicy()))
	chat := strings.Repeat("x", 1_000_000)
	_, err := home.Open().Exec("UPDATE sessions SET chat_id = ? WHERE id = 'side'", chat)
	require.NoError(t, err)
	putPolicy(t, home, chat, `{"session_id":1}`)
	_, err = membersOf(t, home, "side")
	require.ErrorIs(t, err, ErrReceiptInvalid)
	assert.Less(t, len(err.Error()), 500)
}

package statedb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at are the terms of a delete at a time, of the session s.
func at(now float64) terms {
	return terms{now, func(string) bool { return false }, map[string]bool{"s": true}}
}

// fenced has the tombstone of s written too.
func fenced(l *ledgerPart) *ledgerPart {
	l.fenced = []string{"s"}
	return l
}

func emptyLedger() *ledgerPart {
	return &ledgerPart{results: map[string][]cells{}, records: map[string]string{}}
}

func admissionRow(id string) cells {
	return cells{
		"seq": int64(3), "admission_id": id, "request_id": "r<>&\u2028", "principal_id": "humán", "target_session_id": "s",
		"lineage_json": `["s"]`, "payload_json": `{"text":"zarquon"}`, "status": "terminal", "outcome": nil, "at": 1790000000.0,
	}
}

func TestRetireAnAdmission(t *testing.T) {
	l := emptyLedger()
	l.admissions = []cells{admissionRow("a1")}
	r, err := retire(fenced(l), at(1790000000.5))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"gateway.terminal_admission.v1.a1": `{"admission_id":"a1","at":1790000000.0,"lineage_json":"[]","outcome":null,"payload_json":"{}",` +
			`"principal_id":"humán","request_id":"r<>&` + "\u2028" + `","retired_at":1790000000.5,"seq":3,"status":"terminal","target_session_id":"s"}`,
		// python3: hashlib.sha256(json.dumps({"payload": {"principal": …, "request": …}, "target": "s"}, sort_keys=True,
		// separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
		"gateway.terminal_identity.v1.9cc225b625d79dc5e95547fe84d4282399ded65f24f5752f9e538e46bffa3436": `"a1"`,
		"gateway.retired_session.v1.s": `{"own":true,"retired_at":1790000000.5}`,
	}, r.puts)
	assert.Equal(t, []string{"gateway.api.settings.v1.s", "gateway.viewer_close.v1:s", "gateway.api.binding.v1.s"}, r.drops)
	assert.Zero(t, r.finalResponses)
}

func TestStoredResults(t *testing.T) {
	for name, c := range map[string]struct{ stored, kept string }{
		"the talk goes": {
			`{"status":"ok","result":{"final_response":"done","messages":[{"content":"zarquon"}],"last_reasoning":"zarquon","tools":["zarquon"],"_turn_user_row":{"x":"zarquon"},"usage":{"in":3,"cost":1.50e-2}}}`,
			`{"result":{"final_response":"done","messages":[],"usage":{"cost":1.50e-2,"in":3}},"status":"ok"}`,
		},
		"messages are added":           {`{"result":{}}`, `{"result":{"messages":[]}}`},
		"of equal keys the last":       {`{"result":{"tools":"zarquon"},"result":{"usage":1}}`, `{"result":{"messages":[],"usage":1}}`},
		"outside the result all stays": {`{"tools":1,"result":{}}`, `{"result":{"messages":[]},"tools":1}`},
		"keys are exact":               {`{"result":{"Tools":1}}`, `{"result":{"Tools":1,"messages":[]}}`},
		"an encoded form":              {`{"encoded":"emFycXVvbg=="}`, ""},
		"a result that is text":        {`{"result":"{\"messages\":[]}"}`, ""},
		"a result that is null":        {`{"result":null}`, ""},
		"a list":                       {`[{"result":{}}]`, ""},
		"no JSON":                      {`{"result":{}`, ""},
		"something after it":           {`{"result":{}} zarquon`, ""},
		"a result in another case":     {`{"Result":{}}`, ""},
		"nothing":                      {``, ""},
	} {
		l := emptyLedger()
		l.admissions = []cells{admissionRow("a1")}
		l.records["gateway.admission.result.v1.a1"] = c.stored
		r, err := retire(fenced(l), at(1))
		require.NoError(t, err, name)
		if c.kept == "" {
			assert.Contains(t, r.drops, "gateway.admission.result.v1.a1", name)
			assert.NotContains(t, r.puts, "gateway.admission.result.v1.a1", name)
			assert.Zero(t, r.finalResponses, name)
			continue
		}
		assert.Equal(t, c.kept, r.puts["gateway.admission.result.v1.a1"], name)
		assert.NotContains(t, c.kept, "zarquon", name)
		assert.Equal(t, 1, r.finalResponses, name)
	}
}

func TestRetireAWorker(t *testing.T) {
	end, err := endDigest("s")
	require.NoError(t, err)
	l := emptyLedger()
	l.workers = []cells{{"execution_id": "w", "session_id": "s", "status": "terminal"}}
	l.results["w"] = []cells{
		{"execution_id": "w", "sequence": int64(0), "payload_digest": "other", "result_json": `{"x":"zarquon"}`},
		{"execution_id": "w", "sequence": int64(1), "payload_digest": end, "result_json": `{"ok": 1}`},
		{"execution_id": "w", "sequence": int64(2), "payload_digest": nil, "result_json": `"zarquon"`},
	}
	r, err := retire(l, at(2))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"gateway.terminal_worker.v1.w": `{"execution_id":"w","receipts":[{"payload_digest":"other","result_json":null,"sequence":0},` +
			`{"payload_digest":"` + end + `","result_json":"{\"ok\": 1}","sequence":1},{"payload_digest":null,"result_json":null,"sequence":2}],` +
			`"retired_at":2.0,"session_id":"s","status":"terminal"}`,
	}, r.puts)
	assert.Equal(t, 1, r.workerResults)
	assert.Equal(t, []string{"w"}, r.ended)
}

func TestMutationReceiptsKeepNoText(t *testing.T) {
	for name, c := range map[string]struct{ value, kept string }{
		"all three":       {`{"result":{"title":"zarquon","summary":"zarquon","target_message":{"content":"zarquon"},"revision":2}}`, `{"result":{"revision":2,"summary":null,"target_message":null,"title":null}}`},
		"none is added":   {`{"result":{"title":"zarquon"}}`, `{"result":{"title":null}}`},
		"nothing to null": {`{"result": {"revision": 2, "title": null}}`, ""},
		"outside it":      {`{"title":"t","result":{"revision":2}}`, ""},
		"behind another":  {`{"result":{"title":"zarquon","title":null}}`, `{"result":{"title":null}}`},
		"in another":      {`{"result":{"title":"zarquon"},"result":{"revision":2}}`, `{"result":{"revision":2}}`},
	} {
		l := emptyLedger()
		l.mutations = []record{{"gateway.mutation.v1.x", c.value}}
		r, err := retire(l, at(2))
		require.NoError(t, err, name)
		assert.Equal(t, c.kept, r.puts["gateway.mutation.v1.x"], name)
	}
}

func TestWhatCannotBeRetired(t *testing.T) {
	taken := func(key string) func(*ledgerPart) { return func(l *ledgerPart) { l.records[key] = "{}" } }
	set := func(column string, value any) func(*ledgerPart) {
		return func(l *ledgerPart) { l.admissions[0][column] = value }
	}
	for name, c := range map[string]struct {
		spoil func(*ledgerPart)
		says  string
	}{
		"a settled request that is there already": {taken("gateway.terminal_admission.v1.a1"), "gateway.terminal_admission.v1.a1"},
		"an identity that is there already":       {taken("gateway.terminal_identity.v1.9cc225b625d79dc5e95547fe84d4282399ded65f24f5752f9e538e46bffa3436"), "gateway.terminal_identity.v1."},
		"a worker that is there already":          {taken("gateway.terminal_worker.v1.w"), "gateway.terminal_worker.v1.w"},
		"a payload that is no object":             {set("payload_json", `[]`), "payload"},
		"a payload that is no JSON":               {set("payload_json", `{`), "payload"},
		"a payload that is no text":               {set("payload_json", nil), "payload"},
		"an id that is no text":                   {set("admission_id", int64(7)), "no id"},
		"a blob":                                  {set("outcome", []byte{1}), "session_admissions"},
		"text that is no UTF-8":                   {set("outcome", "\xff"), "session_admissions"},
		"two of one identity":                     {func(l *ledgerPart) { l.admissions = append(l.admissions, admissionRow("a2")) }, "gateway.terminal_identity.v1."},
		"a worker without an id":                  {func(l *ledgerPart) { l.workers[0]["execution_id"] = nil }, "no id"},
	} {
		l := emptyLedger()
		l.admissions = []cells{admissionRow("a1")}
		l.workers = []cells{{"execution_id": "w", "session_id": "s"}}
		_, err := retire(fenced(l), at(1))
		require.NoError(t, err, name)
		c.spoil(l)
		_, err = retire(fenced(l), at(1))
		require.ErrorIs(t, err, ErrUnsupported, name)
		assert.Contains(t, err.Error(), c.says, name)
	}
}

func TestMediaIsNotedOnce(t *testing.T) {
	hash := strings.Repeat("0", 64)
	payload := `{"attachments_v1":{"media":[{"path":"/a.png","sha256":"` + hash + `"}]}}`
	l := emptyLedger()
	for _, id := range []string{"a1", "a2"} {
		admission := admissionRow(id)
		admission["request_id"], admission["payload_json"] = id, payload
		l.admissions = append(l.admissions, admission)
	}
	key := mediaKey("/a.png")
	r, err := retire(fenced(l), at(1))
	require.NoError(t, err)
	assert.JSONEq(t, `{"path":"/a.png","sha256":"`+hash+`"}`, r.puts[key])

	l.records[key] = "older"
	r, err = retire(fenced(l), at(1))
	require.NoError(t, err)
	assert.NotContains(t, r.puts, key)
	keys, err := l.recordKeys()
	require.NoError(t, err)
	assert.Contains(t, keys, key)
}

func TestRetirementTellsWhatItKeeps(t *testing.T) {
	r := newRetirement(Circumstances{OperationID: "op", SharesRoutes: true}, []string{"s", "t"}, []string{"chat", "s"}, nil)
	assert.Equal(t, []string{"chat", "s", "t"}, r.policies)
	assert.Empty(t, r.told())
	one := Media{Path: "/a", SessionID: "s"}
	r.add(&outcome{
		puts: map[string]string{"k": "v"}, drops: []string{"d"}, ended: []string{"w"}, media: []Media{one, one}, retained: retained{finalResponses: 1},
	})
	r.add(&outcome{puts: map[string]string{"k": "v"}, media: []Media{one}, retained: retained{1, 2, 3}})
	assert.Equal(t, []Media{one}, r.media)
	assert.Equal(t, []Counted{
		{"final_responses", 2, "an exact retry of a settled request still gets its answer"},
		{"worker_results", 2, "a worker that ends twice still gets its answer"},
		{"mutation_receipts", 3, "an exact retry of a change is still known, without its text"},
	}, r.told())
}

func TestPoliciesThatLeadToTheGoing(t *testing.T) {
	l := emptyLedger()
	l.policies = []string{"a", "b", "c", "gone"}
	l.records = map[string]string{
		"gateway.local_policy.v1:a": `{"entry":{"session_id":"s"},"cost":NaN}`,
		"gateway.local_policy.v1:b": `{"entry":{"session_id":"other"}}`,
		"gateway.local_policy.v1:c": `{broken s`,
	}
	p, err := retire(l, at(1))
	require.NoError(t, err)
	assert.Equal(t, []string{"gateway.local_policy.v1:a"}, p.drops)
}

func TestPartsOf(t *testing.T) {
	assert.Empty(t, partsOf(nil, 10))
	assert.Equal(t, [][]string{{"a"}, {"b", "c"}, {"d"}}, partsOf(map[string]int64{"a": 50, "b": 4, "c": 6, "d": 1}, 10))
	many := map[string]int64{}
	for i := range 2*chunkSize + 1 {
		many[string(rune('a'+i%26))+strings.Repeat("x", i)] = 0
	}
	parts := partsOf(many, 10)
	require.Len(t, parts, 3)
	assert.Len(t, parts[0], chunkSize)
}

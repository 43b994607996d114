package properties

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// odd is text that one encoder of JSON spells otherwise than another.
const odd = "<a&b>\u2028é😀\x7f\t\"\\"

// drawLedger makes up the admissions and workers of a session, which may be none of the store.
func (s *anyStore) drawLedger(d draw, id string) {
	for range rapid.IntRange(0, 2).Draw(d.T, "admissions") {
		s.drawAdmission(d, id)
	}
	if d.seldom("worker", 1) {
		s.drawWorker(d, id)
	}
}

func (s *anyStore) next(table string) string { return fmt.Sprint(len(s.tables[table]) + 1) }

func (s *anyStore) drawAdmission(d draw, id string) {
	n := s.next("session_admissions")
	admission := "a" + n
	request := d.text("request", "r", "r"+odd, "hosted:r", "hosted:r") + n
	principal := d.text("principal", "p", odd)
	s.add("session_admissions", row{
		"admission_id": admission, "request_id": request, "principal_id": principal, "target_session_id": id,
		"lineage_json": `["x"]`, "payload_json": s.drawPayload(d, id), "payload_digest": "d" + n, "intent": "queue",
		"status": s.drawStatus(d), "owner_epoch": int64(1), "generation": d.one("generation", nil, int64(2)),
		"outcome": d.one("outcome", nil, "done"),
	})
	s.drawStoredResult(d, admission, id)
	if d.seldom("conflict", 6) {
		s.meta("gateway.terminal_admission.v1."+admission, "{}")
	}
	if d.seldom("conflict", 6) {
		s.meta("gateway.terminal_identity.v1."+fingerprint(id, map[string]any{"principal": principal, "request": request}), `"x"`)
	}
}

func (s *anyStore) drawStatus(d draw) string {
	if d.seldom("busy", 5) {
		return d.text("status", "running", "queued", "", "Terminal")
	}
	return "terminal"
}

func (s *anyStore) drawPayload(d draw, id string) string {
	if d.seldom("broken", 6) {
		return d.text("payload", "[]", "null", "{broken", "", `"text"`)
	}
	hash := strings.Repeat(d.text("hash", "0", "a"), 64)
	path := "/elsewhere/" + d.text("file", "1", "2", odd2) + "/native-inputs/" + hash + "/f.png"
	media := jsonOf(map[string]any{"path": path, "sha256": hash, "kind": "image"})
	said := quote(s.say(word{}, id))
	list := d.text("media", "[]", "["+media+"]", "["+media+", 7, {\"path\": 7}, "+media+"]", `"none"`)
	line := "[Shared attachment] file: " + d.text("shared", "/elsewhere/shared", "elsewhere", "/elsewhere/"+odd2) + "/native-inputs/" + hash + "/f"
	return d.text("payload",
		`{"text": `+said+`}`,
		`{"text": `+said+`, "attachments_v1": {"media": `+list+`}}`,
		`{"text": `+said+`, "native_text_v1": {"media": `+list+`}, "api_turn_v1": {"media": `+list+`}}`,
		`{"text": `+jsonOf("before\n"+line+"\nafter")+`}`,
		`{"text": `+jsonOf(line+"\nafter")+`}`,
		`{"text": `+jsonOf("before\n"+line)+`}`,
		`{"text": 7, "attachments_v1": {"Media": `+list+`}, "Attachments_v1": {"media": `+list+`}}`,
	)
}

const odd2 = "<a&b> é😀" // as odd, where a control character would be in the way

// drawStoredResult makes up what an exact retry would be answered with, in the form that the Agent writes and in others.
func (s *anyStore) drawStoredResult(d draw, admission, id string) {
	gone := func() string { return quote(s.say(word{}, id)) }
	kept := func() string { return quote(s.say(word{kept: true}, id)) }
	key := "gateway.admission.result.v1." + admission
	switch d.one("stored", 0, 1, 1, 2, 3, 4, 5, 6) {
	case 1:
		s.meta(key, `{"id": 9007199254740993, "cost": 1.50, "x": `+kept()+`, "result": {"messages": [{"content": `+gone()+`}],
			"last_reasoning": `+gone()+`, "tools": [`+gone()+`], "_turn_user_row": {"content": `+gone()+`},
			"final_response": `+kept()+`, "usage": {"input": 1e2, "text": "`+odd2+`"}}}`)
	case 2:
		s.meta(key, `{"result": {"final_response": `+kept()+`}}`)
	case 3:
		s.meta(key, `{"result": "{\"final_response\": \"`+s.say(word{}, id)+`\"}"}`)
	case 4:
		s.meta(key, `{"encoding": "zlib", "text": `+gone()+`}`)
	case 5:
		s.meta(key, `[{"result": {"final_response": `+gone()+`}}]`)
	case 6:
		s.meta(key, d.text("value", "{broken "+s.say(word{}, id), `"`+s.say(word{}, id)+`"`, "null", ""))
	}
}

func (s *anyStore) drawWorker(d draw, id string) {
	execution := "e" + s.next("worker_executions")
	s.add("worker_executions", row{
		"execution_id": execution, "session_id": id, "generation": int64(1), "owner_epoch": int64(1), "kind": "turn" + odd,
		"adoption_digest": "d", "status": s.drawStatus(d),
	})
	for i := range rapid.IntRange(0, 2).Draw(d.T, "receipts") {
		digest, w := "other", word{}
		if d.seldom("end", 1) {
			digest, w = fingerprint(id, map[string]any{"operation": "execution.finish", "payload": map[string]any{}}), word{kept: true}
		}
		result := any(`{"text": ` + quote(s.say(w, id)) + `}`)
		if d.seldom("none", 2) {
			result = nil
		}
		s.add("worker_receipts", row{
			"execution_id": execution, "sequence": int64(9 - i), "payload_digest": digest, "result_json": result,
		})
	}
	if d.seldom("conflict", 6) {
		s.meta("gateway.terminal_worker.v1."+execution, "{}")
	}
}

// drawRecords makes up what is kept under an id.
func (s *anyStore) drawRecords(d draw, id string) {
	if d.seldom("tombstone", 2) {
		s.meta("gateway.retired_session.v1."+id, d.text("tombstone",
			`{"own":true,"retired_at":5.5}`, `{"retired_at":5}`, `{"expires":true,"own":true,"retired_at":5}`,
			`{"expires":true,"retired_at":5}`, `{"own":null,"retired_at":5}`, `{"own":false}`, `{"expires":1}`, `{"expires":null}`,
			"{broken", "null", "[]", "7", `"own"`, `{"Own":true,"Expires":true}`, ""))
	}
	if d.seldom("settings", 2) {
		s.meta("gateway.api.settings.v1."+id, `{"instructions": `+quote(s.say(word{}, id))+`}`)
		s.meta("gateway.viewer_close.v1:"+id, "1")
		s.meta("gateway.api.binding.v1."+id, "{broken")
	}
	if d.seldom("generation", 2) {
		s.tables["conversation_generations"] = slices.DeleteFunc(s.tables["conversation_generations"], func(r row) bool { return r["source"] == "cli" })
		s.add("conversation_generations", row{"source": "cli", "session_key": "agent:main:1", "generation": int64(4)})
	}
}

// drawMutations makes up mutation receipts that name several sessions, or nobody.
func (s *anyStore) drawMutations(d draw) {
	for i := range rapid.IntRange(0, 4).Draw(d.T, "mutations") {
		key := fmt.Sprintf("gateway.mutation.v1.%064d", i)
		if d.seldom("other", 2) {
			s.meta(key, d.text("value", "{broken", "[]", `{"result": "`+s.anyID(d, "names")+`"}`, `{"session_id": "`+s.anyID(d, "names")+`"}`,
				`{"result": {"session_id": 7, "text": "stays"}}`, `{"result": {"ids": ["`+s.anyID(d, "names")+`"]}}`, "", "7"))
			continue
		}
		ids := rapid.Permutation(s.named).Draw(d.T, "named")
		result := map[string]any{"ok": true, "n": 9007199254740993.0}
		var names []string
		for _, field := range []string{"session_id", "target_session_id", "previous_target_session_id"} {
			if d.seldom(field, 1) {
				result[field], names, ids = ids[0], append(names, ids[0]), ids[1:]
			}
			if len(ids) == 0 {
				break
			}
		}
		message := map[string]any{"role": "user"}
		if len(ids) > 0 && (len(names) == 0 || d.seldom("message", 1)) {
			message["session_id"], names = ids[0], append(names, ids[0])
		}
		message["content"] = s.say(word{}, names...)
		for field, value := range map[string]any{
			"target_message": message, "summary": s.say(word{}, names...), "title": s.say(word{}, names...),
		} {
			result[field] = value
		}
		for _, field := range []string{"summary", "title"} {
			if d.seldom(field, 2) {
				result[field] = nil
			}
			if d.seldom(field, 2) {
				delete(result, field)
			}
		}
		s.meta(key, jsonOf(map[string]any{"result": result, "request": odd}))
	}
}

// drawOthers makes up what belongs to nobody in particular: prompts, routes, names, policies.
func (s *anyStore) drawOthers(d draw) {
	for _, hash := range []string{"h1", "h2", "h3", "unused"} {
		s.add("system_prompts", row{"hash": hash, "prompt": "you are " + hash})
	}
	for i := range rapid.IntRange(0, 4).Draw(d.T, "routes") {
		id := s.anyID(d, "routed")
		s.add("gateway_routing", row{
			"scope": "", "session_key": fmt.Sprint("agent:main:", i), "updated_at": 1.0,
			"entry_json": d.text("entry", `{"session_id": `+quote(id)+`}`, `{"session_id": `+quote(id)+`, "x": "é"}`, `{"session_id": 7}`,
				`{"x": {"session_id": `+quote(id)+`}}`, "{broken "+quote(id), quote(id), "["+quote(id)+"]", `{"Session_id": `+quote(id)+`}`, "", "null"),
		})
	}
	for i := range rapid.IntRange(0, 3).Draw(d.T, "names") {
		id := s.anyID(d, "called")
		s.meta(fmt.Sprint("gateway.api.conversation.v1.name", i), d.one("value", id, id, quote(id), "stranger ", nil))
		s.meta(fmt.Sprint("gateway.local_policy.v1:other", i), d.one("policy", `{"entry": {"session_id": `+quote(id)+`}}`,
			"{broken "+quote(id), `{"entry": [`+quote(id)+`]}`, `{"session_id": `+quote(id)+`}`, "[]", nil))
	}
	s.meta("unrelated", "stays")
	s.meta("gateway.mutation.v2.x", `{"result": {"session_id": `+quote(s.ids[0])+`, "title": "stays"}}`)
}

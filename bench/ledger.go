package main

import (
	"fmt"
	"strings"

	"session-sidecar/internal/agentjson"
)

// writeLedger writes what a newer Agent's runtime notes of a session. A conversation that is measured has two settled
// requests with their stored results, two workers and a mutation receipt; of the others some have a part of that.
func (h history) writeLedger(w *writer, i int) {
	id := h.id(i)
	switch i % len(pattern) {
	case 0:
		h.writeAdmission(w, i, 0, true)
		h.writeAdmission(w, i, 1, true)
		h.writeWorker(w, i)
		w.meta("gateway.api.settings.v1."+id, `{"model":"atlas-4","toolsets":["terminal","files"]}`)
		w.meta("gateway.mutation.v1."+localFingerprint("mutation", id), fmt.Sprintf(
			`{"digest":%q,"result":{"session_id":%q,"summary":%q,"title":%q}}`,
			localFingerprint("digest", id), id, words(chance(i, forLedger), 200), h.title(i)))
	case 1, 5:
		h.writeWorker(w, i)
	case 2, 3, 4, 13:
		h.writeAdmission(w, i, 0, false)
	case 6:
		w.meta("gateway.api.conversation.v1."+requestOf(i), id)
		w.meta("gateway.api.binding.v1."+id, `{"client":"desktop"}`)
		h.writeAdmission(w, i, 0, true)
	}
	if h.local(i) {
		h.writeAdmission(w, i, 0, true)
	}
}

// writeAdmission writes a settled request, and the result that an exact retry is answered with: the talk is in it.
func (h history) writeAdmission(w *writer, i, n int, stored bool) {
	id := h.id(i)
	request := fmt.Sprintf("%s:%d", requestOf(i), n)
	admission := localFingerprint("admission", id, request)[:32]
	w.insert("session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json, "+
		"payload_digest, intent, status, owner_epoch, generation, outcome)",
		admission, request, principal, id, fmt.Sprintf(`[%q]`, id), fmt.Sprintf(`{"text":%q}`, h.message(i, n*2)),
		localFingerprint("payload", admission), "queue", "terminal", 1, 1, "completed")
	if !stored {
		return
	}
	var talk []string
	for m := range fewMessages {
		talk = append(talk, fmt.Sprintf(`{"role":%q,"content":%q}`, speaker(m), h.message(i, m)))
	}
	w.meta("gateway.admission.result.v1."+admission, fmt.Sprintf(
		`{"status":"ok","result":{"final_response":%q,"messages":[%s],"last_reasoning":%q,"tools":["terminal"],`+
			`"_turn_user_row":{"content":%q},"usage":{"input_tokens":%d,"output_tokens":%d}}}`,
		h.message(i, n*2+1), strings.Join(talk, ","), words(chance(i, forLedger), 200), h.message(i, n*2), 900+i%100, 300+i%50))
}

// writeWorker writes a worker that has ended, with what it sent; the last of it is the result that is kept.
func (h history) writeWorker(w *writer, i int) {
	id := h.id(i)
	execution := "w" + localFingerprint("worker", id)[:16]
	w.insert("worker_executions (execution_id, session_id, generation, owner_epoch, kind, adoption_digest, status)",
		execution, id, 1, 1, "compute", localFingerprint("adoption", id), "terminal")
	finish, err := agentjson.Fingerprint(id, agentjson.Object{"operation": "execution.finish", "payload": agentjson.Object{}})
	if err != nil {
		panic(err) // it is ours
	}
	for sequence, digest := range []string{localFingerprint("progress", id), finish} {
		w.insert("worker_receipts (execution_id, sequence, payload_digest, result_json)",
			execution, sequence, digest, fmt.Sprintf(`{"value":%q}`, words(chance(i, forLedger), 100)))
	}
}

// writePolicy makes a session a local conversation of one segment.
func (h history) writePolicy(w *writer, i int) {
	id := h.id(i)
	w.meta("gateway.local_policy.v1:"+id, fmt.Sprintf(
		`{"session_id":%[1]q,"profile_id":%[2]q,"principal_id":%[3]q,"request_id":%[4]q,"route":%[5]q,`+
			`"entry":{"session_id":%[1]q,"origin":{"chat_id":%[1]q}},"policy":{"source":"cli","request_json":"{}"},"lineage":[%[1]q]}`,
		id, profile, principal, requestOf(i), h.route(i)))
}

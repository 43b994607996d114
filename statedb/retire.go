package statedb

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"session-sidecar/internal/agentjson"
)

// This file decides what becomes of the ledger when sessions go (contract 5b.4): a function of the ledger as it was read,
// and of the time.

// cells is one row as the store holds it: column -> value.
type cells map[string]any

// text is a cell that is text, else nothing.
func (c cells) text(column string) string {
	text, _ := c[column].(string)
	return text
}

// record is one row of state_meta.
type record struct{ key, value string }

// ledgerPart is a part of what a newer Agent's runtime keeps about some sessions: as much as is looked at at once.
type ledgerPart struct {
	admissions []cells
	workers    []cells
	results    map[string][]cells // of workers, by execution, in their sequence
	mutations  []record           // mutation receipts that name one of the sessions
	fenced     []string           // sessions whose tombstones are to be written
	policies   []string           // owners of local policies that may lead to one of the sessions
	records    map[string]string  // every other record of state_meta that the decision asks for, if it is there
}

// Media is a file that a deleted conversation named.
type Media struct {
	Path      string // as it was named
	SHA256    string // of its content; empty for spilled tool output
	SessionID string // the session that named it; of spilled tool output, the first of those that go
}

// outcome is what becomes of a part of the ledger.
type outcome struct {
	puts  map[string]string // records that are written, over what was there
	drops []string          // records that go
	ended []string          // the executions whose results go
	media []Media
	retained
}

// retained counts what is kept on purpose (contract 4, retained).
type retained struct {
	finalResponses   int // stored results, without the talk
	workerResults    int
	mutationReceipts int // without text
}

// requestIdentity is the fingerprint under which an exact retry of an admission's request looks for its answer.
func requestIdentity(admission cells) (string, error) {
	return requestFingerprint(admission.text("target_session_id"), admission["principal_id"], admission["request_id"])
}

// endDigest is the digest of a worker result that holds no text: the end of the execution.
func endDigest(sessionID string) (string, error) {
	return agentjson.Fingerprint(sessionID, agentjson.Object{"operation": "execution.finish", "payload": agentjson.Object{}})
}

// resultKeys lists the keys of the admissions' stored results.
func (l *ledgerPart) resultKeys() (keys []string) {
	for _, admission := range l.admissions {
		keys = append(keys, admissionResultPrefix+admission.text("admission_id"))
	}
	return keys
}

// recordKeys lists the keys of every other record that the decision asks for.
func (l *ledgerPart) recordKeys() ([]string, error) {
	keys := slices.Concat(prefixed(retiredSessionPrefix, l.fenced), prefixed(localPolicyPrefix, l.policies))
	for _, admission := range l.admissions {
		identity, err := requestIdentity(admission)
		if err != nil {
			return nil, notRetirable("session_admissions", err)
		}
		id := admission.text("admission_id")
		keys = append(keys, terminalAdmissionPrefix+id, terminalIdentityPrefix+identity)
		media, err := mediaOf(admission.text("payload_json"), admission.text("request_id"))
		if err != nil {
			return nil, err
		}
		for _, m := range media {
			keys = append(keys, mediaKey(m.path))
		}
	}
	for _, worker := range l.workers {
		keys = append(keys, terminalWorkerPrefix+worker.text("execution_id"))
	}
	return keys, nil
}

// terms are the same for all parts of one retirement.
type terms struct {
	now     float64              // in seconds since 1970
	expires func(id string) bool // whose tombstone is one of a sweep that may be reclaimed
	going   map[string]bool      // every session that goes
}

// retire decides for a part of the ledger. What could not be kept or removed for certain is ErrUnsupported.
func retire(l *ledgerPart, t terms) (*outcome, error) {
	o := &outcome{puts: map[string]string{}}
	for _, admission := range l.admissions {
		if err := o.retireAdmission(l, admission, t.now); err != nil {
			return nil, err
		}
	}
	for _, worker := range l.workers {
		if err := o.retireWorker(l, worker, t.now); err != nil {
			return nil, err
		}
	}
	for _, receipt := range l.mutations {
		if err := o.keepWithoutText(receipt); err != nil {
			return nil, err
		}
	}
	for _, id := range l.fenced {
		key := retiredSessionPrefix + id
		var older *string
		if value, there := l.records[key]; there {
			older = &value
		}
		if value, write := newTombstone(older, t.expires(id), t.now); write {
			o.puts[key] = value
		}
		o.drops = append(o.drops, settingsPrefix+id, viewerClosePrefix+id, bindingPrefix+id)
	}
	for _, owner := range l.policies {
		// The policy was read as Python reads it, which SQLite may not be able to.
		key := localPolicyPrefix + owner
		if policy, ok := parsePolicy(l.records[key]); ok && t.going[policy.entrySessionID] {
			o.drops = append(o.drops, key)
		}
	}
	return o, nil
}

// putNew enters a record that must not be there yet: over another one it would lose what somebody still asks for.
func (o *outcome) putNew(l *ledgerPart, key, value string) error {
	_, there := l.records[key]
	_, written := o.puts[key]
	if there || written {
		return unsupported("the store holds a record %s already", key)
	}
	o.puts[key] = value
	return nil
}

// retireAdmission keeps of a settled request what an exact retry is answered with: who asked what, and the final response.
func (o *outcome) retireAdmission(l *ledgerPart, admission cells, now float64) error {
	id := admission.text("admission_id")
	if id == "" {
		return unsupported("an admission of the store has no id")
	}
	media, err := mediaOf(admission.text("payload_json"), admission.text("request_id"))
	if err != nil {
		return err
	}
	for _, m := range media {
		o.media = append(o.media, Media{Path: m.path, SHA256: m.sha256, SessionID: admission.text("target_session_id")})
		if _, there := l.records[mediaKey(m.path)]; !there && o.puts[mediaKey(m.path)] == "" {
			o.puts[mediaKey(m.path)] = m.stored
		}
	}
	resultKey := admissionResultPrefix + id
	if stored, there := l.records[resultKey]; there {
		if kept, ok := withoutTalk(stored); ok {
			o.puts[resultKey] = kept
			o.finalResponses++
		} else {
			o.drops = append(o.drops, resultKey) // it may be an encoded form that hides the talk
		}
	}
	row := agentjson.Object(maps.Clone(admission))
	row["payload_json"], row["lineage_json"], row["retired_at"] = "{}", "[]", now
	encoded, err := agentjson.Encode(row)
	if err != nil {
		return notRetirable("session_admissions", err)
	}
	if err := o.putNew(l, terminalAdmissionPrefix+id, encoded); err != nil {
		return err
	}
	identity, err := requestIdentity(admission)
	if err != nil {
		return notRetirable("session_admissions", err)
	}
	name, err := agentjson.Encode(id)
	if err != nil {
		return notRetirable("session_admissions", err)
	}
	return o.putNew(l, terminalIdentityPrefix+identity, name)
}

// talk is what a stored result holds of the conversation itself; of its messages an empty list stays.
var talk = []string{"messages", "last_reasoning", "tools", "_turn_user_row"}

// withoutTalk keeps all of a stored result but the talk. One that is no object with an object result is not ok. The talk, which
// may be long, is stepped over and never taken apart.
func withoutTalk(stored string) (kept string, ok bool) {
	// Strict JSON alone: in the place of a number that only Python knows we would have to make one up.
	object, _ := readObject(stored)
	result, ok := readObject(object["result"])
	if !ok {
		return "", false
	}
	for _, name := range talk {
		delete(result, name)
	}
	inner, err := parsed(result)
	if err != nil {
		return "", false
	}
	inner["messages"] = []any{}
	delete(object, "result")
	outer, err := parsed(object)
	if err != nil {
		return "", false
	}
	outer["result"] = inner
	kept, err = agentjson.Encode(outer)
	return kept, err == nil
}

func parsed(members map[string]json.RawMessage) (agentjson.Object, error) {
	object := agentjson.Object{}
	for name, raw := range members {
		value, err := agentjson.Parse(string(raw))
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	return object, nil
}

// retireWorker keeps who did what and when, and of the results only that of the end.
func (o *outcome) retireWorker(l *ledgerPart, worker cells, now float64) error {
	id := worker.text("execution_id")
	if id == "" {
		return unsupported("a worker of the store has no id")
	}
	end, err := endDigest(worker.text("session_id"))
	if err != nil {
		return notRetirable("worker_executions", err)
	}
	results := []any{}
	for _, result := range l.results[id] {
		kept := agentjson.Object{"sequence": result["sequence"], "payload_digest": result["payload_digest"], "result_json": nil}
		if result.text("payload_digest") == end {
			kept["result_json"] = result["result_json"]
			if result["result_json"] != nil {
				o.workerResults++
			}
		}
		results = append(results, kept)
	}
	o.ended = append(o.ended, id)
	row := agentjson.Object(maps.Clone(worker))
	row["receipts"], row["retired_at"] = results, now
	encoded, err := agentjson.Encode(row)
	if err != nil {
		return notRetirable("worker_executions", err)
	}
	return o.putNew(l, terminalWorkerPrefix+id, encoded)
}

func notRetirable(table string, cause error) error {
	return &Error{Kind: ErrUnsupported, Detail: fmt.Sprintf("a row of %s cannot be retired", table), Cause: cause}
}

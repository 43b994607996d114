package statedb

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

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

// ledger is a part of what a newer Agent's runtime keeps about some sessions: as much as is looked at at once.
type ledger struct {
	admissions []cells
	workers    []cells
	receipts   map[string][]cells // by execution, in their sequence
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

// part is what is written about a part of the ledger, and what goes with it.
type part struct {
	puts     map[string]string // records that are written, over what was there
	drops    []string          // records that go
	ended    []string          // the executions whose receipts go
	media    []Media
	results  int // stored results that are kept without the talk
	workers  int // results of workers that are kept
	receipts int // mutation receipts that are kept without text
}

// requestIdentity is the fingerprint under which an exact retry of an admission's request looks for its answer.
func requestIdentity(admission cells) (string, error) {
	return agentjson.Fingerprint(admission.text("target_session_id"), agentjson.Object{
		"principal": admission["principal_id"], "request": admission["request_id"],
	})
}

// endDigest is the digest of a worker result that holds no text: the end of the execution.
func endDigest(sessionID string) (string, error) {
	return agentjson.Fingerprint(sessionID, agentjson.Object{"operation": "execution.finish", "payload": agentjson.Object{}})
}

// results lists the stored results of the admissions.
func (l *ledger) results() (keys []string) {
	for _, admission := range l.admissions {
		keys = append(keys, admissionResultPrefix+admission.text("admission_id"))
	}
	return keys
}

// keys lists every other record that the decision asks for.
func (l *ledger) keys() ([]string, error) {
	keys := slices.Concat(prefixed(retiredSessionPrefix, l.fenced), prefixed(localPolicyPrefix, l.policies))
	for _, admission := range l.admissions {
		fingerprint, err := requestIdentity(admission)
		if err != nil {
			return nil, notRetirable("session_admissions", err)
		}
		id := admission.text("admission_id")
		keys = append(keys, terminalAdmissionPrefix+id, terminalIdentityPrefix+fingerprint)
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
func retire(l *ledger, t terms) (*part, error) {
	p := &part{puts: map[string]string{}}
	for _, admission := range l.admissions {
		if err := p.retireAdmission(l, admission, t.now); err != nil {
			return nil, err
		}
	}
	for _, worker := range l.workers {
		if err := p.retireWorker(l, worker, t.now); err != nil {
			return nil, err
		}
	}
	for _, receipt := range l.mutations {
		if err := p.keepWithoutText(receipt); err != nil {
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
			p.puts[key] = value
		}
		p.drops = append(p.drops, settingsPrefix+id, viewerClosePrefix+id, bindingPrefix+id)
	}
	for _, owner := range l.policies {
		// The policy was read as Python reads it, which SQLite may not be able to.
		key := localPolicyPrefix + owner
		if policy, ok := parsePolicy(l.records[key]); ok && t.going[policy.entrySessionID] {
			p.drops = append(p.drops, key)
		}
	}
	return p, nil
}

// putNew enters a record that must not be there yet: over another one it would lose what somebody still asks for.
func (p *part) putNew(l *ledger, key, value string) error {
	_, there := l.records[key]
	_, written := p.puts[key]
	if there || written {
		return unsupported("the store holds a record %s already", key)
	}
	p.puts[key] = value
	return nil
}

// retireAdmission keeps of a settled request what an exact retry is answered with: who asked what, and the final response.
func (p *part) retireAdmission(l *ledger, admission cells, now float64) error {
	id := admission.text("admission_id")
	if id == "" {
		return unsupported("an admission of the store has no id")
	}
	media, err := mediaOf(admission.text("payload_json"), admission.text("request_id"))
	if err != nil {
		return err
	}
	for _, m := range media {
		p.media = append(p.media, Media{Path: m.path, SHA256: m.sha256, SessionID: admission.text("target_session_id")})
		if _, there := l.records[mediaKey(m.path)]; !there && p.puts[mediaKey(m.path)] == "" {
			p.puts[mediaKey(m.path)] = m.stored
		}
	}
	resultKey := admissionResultPrefix + id
	if stored, there := l.records[resultKey]; there {
		if kept, ok := withoutTalk(stored); ok {
			p.puts[resultKey] = kept
			p.results++
		} else {
			p.drops = append(p.drops, resultKey) // it may be an encoded form that hides the talk
		}
	}
	row := agentjson.Object(maps.Clone(admission))
	row["payload_json"], row["lineage_json"], row["retired_at"] = "{}", "[]", now
	encoded, err := agentjson.Encode(row)
	if err != nil {
		return notRetirable("session_admissions", err)
	}
	if err := p.putNew(l, terminalAdmissionPrefix+id, encoded); err != nil {
		return err
	}
	fingerprint, err := requestIdentity(admission)
	if err != nil {
		return notRetirable("session_admissions", err)
	}
	name, err := agentjson.Encode(id)
	if err != nil {
		return notRetirable("session_admissions", err)
	}
	return p.putNew(l, terminalIdentityPrefix+fingerprint, name)
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
func (p *part) retireWorker(l *ledger, worker cells, now float64) error {
	id := worker.text("execution_id")
	if id == "" {
		return unsupported("a worker of the store has no id")
	}
	end, err := endDigest(worker.text("session_id"))
	if err != nil {
		return notRetirable("worker_executions", err)
	}
	receipts := []any{}
	for _, receipt := range l.receipts[id] {
		kept := agentjson.Object{"sequence": receipt["sequence"], "payload_digest": receipt["payload_digest"], "result_json": nil}
		if receipt.text("payload_digest") == end {
			kept["result_json"] = receipt["result_json"]
			if receipt["result_json"] != nil {
				p.workers++
			}
		}
		receipts = append(receipts, kept)
	}
	p.ended = append(p.ended, id)
	row := agentjson.Object(maps.Clone(worker))
	row["receipts"], row["retired_at"] = receipts, now
	encoded, err := agentjson.Encode(row)
	if err != nil {
		return notRetirable("worker_executions", err)
	}
	return p.putNew(l, terminalWorkerPrefix+id, encoded)
}

// talkOfMutation is what a mutation receipt says of the conversation itself.
var talkOfMutation = []string{"target_message", "summary", "title"}

// keepWithoutText leaves a mutation receipt, so that a retry finds it, without what it says of the conversation.
func (p *part) keepWithoutText(receipt record) error {
	value, err := agentjson.Parse(receipt.value)
	object, _ := value.(agentjson.Object)
	result, ok := object["result"].(agentjson.Object)
	if err != nil || !ok {
		return unsupported("the mutation receipt %s cannot be read", receipt.key)
	}
	p.receipts++
	changed := agentjson.RepeatsName(receipt.value) // what is said under a name that stands twice is hidden, and still there
	for _, name := range talkOfMutation {
		if value, there := result[name]; there && value != nil {
			result[name], changed = nil, true
		}
	}
	if !changed {
		return nil
	}
	encoded, err := agentjson.Encode(object)
	if err != nil {
		return notRetirable("state_meta", err)
	}
	p.puts[receipt.key] = encoded
	return nil
}

func notRetirable(table string, cause error) error {
	return &Error{Kind: ErrUnsupported, Detail: fmt.Sprintf("a row of %s cannot be retired", table), Cause: cause}
}

// now is the time in seconds since 1970, as the Agent writes it.
func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

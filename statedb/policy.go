package statedb

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/agentjson"
)

// A local policy makes several sessions one conversation: the transcripts that one chat went through, by resets and by
// compressions (contract 5b.1). This file reads such a record and decides whether it holds. It is all functions of the
// record and of rows that were read before.

const (
	maxPolicyCharacters = 1_000_000
	maxPolicyMembers    = 1000
	localIDPrefix       = "local-"
	endSessionReset     = "session_reset"
)

// derivedRequests begin the request ids of conversations that somebody else derives a session id from (contract 5d).
var derivedRequests = []string{"bot-chat:", "a2a:"}

// policy is what a record gateway.local_policy.v1:<owner> says. A field that is absent or no text is empty.
type policy struct {
	sessionID, profileID, principalID, requestID, route, entrySessionID string

	legacySessionID *string  // nil where the record has no such field
	lineage         []string // the owner alone where the record has no such field; without what is no text

	fault   string // the first thing in the record that no policy may have, seen while reading it
	noRoute bool   // the route is absent or no text
}

// parsePolicy reads a record as the Agent does, which is how Python's json reads it: exact keys, and the last of two
// equal ones. Text that is no JSON object is no policy.
func parsePolicy(value string) (policy, bool) {
	record, ok := readPythonObject(value)
	if !ok {
		return policy{}, false
	}
	var p policy
	entry, ok := readObject(record["entry"])
	if !ok {
		p.blame("its entry is no object")
	}
	if utf8.RuneCountInString(value) > maxPolicyCharacters {
		p.blame("it is longer than %d characters", maxPolicyCharacters)
	}
	p.sessionID = p.need(record, "session_id")
	p.profileID = p.need(record, "profile_id")
	p.principalID = p.need(record, "principal_id")
	p.entrySessionID = p.need(entry, "session_id")
	if _, old := record["legacy_session_id"]; old {
		legacy := p.need(record, "legacy_session_id")
		p.legacySessionID = &legacy
		p.requestID, _ = readExactString(record["request_id"]) // such a conversation is not named after its request
	} else {
		p.requestID = p.need(record, "request_id")
	}
	p.route, ok = readExactString(record["route"])
	p.noRoute = !ok
	p.readLineage(record)
	return p, true
}

func (p *policy) readLineage(record map[string]json.RawMessage) {
	raw, ok := record["lineage"]
	if !ok {
		p.lineage = []string{p.sessionID}
		return
	}
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil || elements == nil {
		p.blame("its lineage is no list")
	}
	for _, element := range elements {
		id, ok := readExactString(element)
		if !ok || id == "" {
			p.blame("its lineage names something that is no session")
			continue
		}
		p.lineage = append(p.lineage, id)
	}
}

// need is a field that must be text.
func (p *policy) need(object map[string]json.RawMessage, key string) string {
	text, ok := readExactString(object[key])
	if !ok {
		p.blame("its %s is no text", key)
	}
	return text
}

func (p *policy) blame(format string, args ...any) {
	if p.fault == "" {
		p.fault = fmt.Sprintf(format, args...)
	}
}

// ids are all that the record names, each once, whether it holds or not (contract 5d): the owner, the lineage, and the
// session of its entry.
func (p policy) ids() []string {
	var ids []string
	seen := map[string]bool{"": true}
	for _, id := range slices.Concat([]string{p.sessionID}, p.lineage, []string{p.entrySessionID}) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// derived tells whether the members' ids must stay fenced for good (contract 5d).
func (p policy) derived() bool {
	return slices.ContainsFunc(derivedRequests, func(prefix string) bool { return strings.HasPrefix(p.requestID, prefix) })
}

// localRow is what a policy asks of a row of sessions, beside its lineage.
type localRow struct {
	session
	userID, sessionKey *string
	lastActivity       any // nil, int64, float64 or string
	newestMessage      any // the time of its newest message that has one; nil where nobody asks
}

// localRows are the rows around a policy's lineage.
type localRows struct {
	members map[string]*localRow
	// candidates are the children that may continue a member that ended by compression, by that member.
	candidates map[string][]*localRow
	legacy     *string // the record gateway.local_legacy.v1:<legacy_session_id>; nil where there is none
}

// recordFault says which rule of contract 5b.1 the record breaks by itself, under the key of this owner; nothing where it
// breaks none.
func (p policy) recordFault(owner string) string {
	switch {
	case p.fault != "":
		return p.fault
	case p.sessionID != owner:
		return fmt.Sprintf("it is the policy of %.200q", p.sessionID)
	case p.legacySessionID != nil && *p.legacySessionID != p.sessionID:
		return fmt.Sprintf("its legacy_session_id is %.200q", *p.legacySessionID)
	case p.legacySessionID == nil && !p.isNamedAfterRequest():
		return "its session_id does not come from its profile, principal and request"
	case len(p.lineage) < 1 || len(p.lineage) > maxPolicyMembers:
		return fmt.Sprintf("its lineage has %d members", len(p.lineage))
	case p.lineage[0] != owner:
		return fmt.Sprintf("its lineage starts with %.200q", p.lineage[0])
	case p.lineage[len(p.lineage)-1] != p.entrySessionID:
		return fmt.Sprintf("its lineage does not end with its entry, %.200q", p.entrySessionID)
	}
	seen := map[string]bool{}
	for _, id := range p.lineage {
		if seen[id] {
			return fmt.Sprintf("its lineage names %.200q twice", id)
		}
		seen[id] = true
	}
	return ""
}

// isNamedAfterRequest tells whether the conversation's id is the one that a principal's request creates.
func (p policy) isNamedAfterRequest() bool {
	fingerprints, err := agentjson.ASCIIFingerprints(p.profileID, p.principalID, p.requestID)
	hash, local := strings.CutPrefix(p.sessionID, localIDPrefix)
	return err == nil && local && slices.Contains(fingerprints, hash)
}

// lineageFault says which rule of a valid lineage the rows break (contract 5b.1); nothing where they break none. The record
// by itself must be without fault.
func (p policy) lineageFault(rows localRows) string {
	if p.legacySessionID != nil && !p.boundBy(rows.legacy) {
		return "there is no record of the older session that says the same"
	}
	for i, id := range p.lineage[1:] {
		before := p.lineage[i]
		parent, row := rows.members[before], rows.members[id]
		switch {
		case parent == nil:
			return missingMember(before)
		case row == nil:
			return missingMember(id)
		case row.parent == nil || *row.parent != before:
			return fmt.Sprintf("session %.200q is no child of %.200q", id, before)
		case parent.ended(endSessionReset):
			if !row.markers.reset.names(before) {
				return fmt.Sprintf("session %.200q does not say that it came from the reset of %.200q", id, before)
			}
		case parent.ended(endCompression):
			if preferredContinuation(parent, rows.candidates[before]) != row.id {
				return fmt.Sprintf("session %.200q is not the preferred continuation of %.200q", id, before)
			}
		default:
			return fmt.Sprintf("session %.200q ended neither by a reset nor by compression", before)
		}
	}
	last := p.lineage[len(p.lineage)-1]
	if next := preferredContinuation(rows.members[last], rows.candidates[last]); next != "" {
		return fmt.Sprintf("session %.200q goes on in %.200q", last, next)
	}
	return ""
}

func missingMember(id string) string { return fmt.Sprintf("session %.200q is not there", id) }

// boundBy tells whether the record of the older session says what the policy says, and nothing else.
func (p policy) boundBy(legacy *string) bool {
	if legacy == nil {
		return false
	}
	record, ok := readPythonObject(*legacy)
	want := map[string]string{
		"session_id": p.sessionID, "profile_id": p.profileID, "principal_id": p.principalID, "legacy_session_id": *p.legacySessionID,
	}
	if !ok || len(record) != len(want) {
		return false
	}
	for key, text := range want {
		if got, ok := readExactString(record[key]); !ok || got != text {
			return false
		}
	}
	return true
}

// memberFault says which rule of contract 5b.1 a member's row breaks; nothing where none does.
func (p policy) memberFault(rows localRows) string {
	if p.noRoute {
		return "its route is no text"
	}
	for i, id := range p.lineage {
		row := rows.members[id]
		if row == nil {
			return missingMember(id)
		}
		for _, field := range []struct {
			name string
			is   *string
			want string
		}{
			{"chat_id", row.chatID, p.sessionID},
			{"user_id", row.userID, p.principalID},
			{"session_key", row.sessionKey, p.route},
		} {
			if field.is == nil || *field.is != field.want {
				return fmt.Sprintf("the %s of session %.200q is not the policy's", field.name, id)
			}
		}
		switch {
		case !row.markers.readable:
			return fmt.Sprintf("the model_config of session %.200q cannot be read", id)
		case i > 0 && row.hasSource(sourceTool):
			return fmt.Sprintf("session %.200q is a tool's", id)
		case i > 0 && row.markers.branch.present:
			return fmt.Sprintf("session %.200q is a branch", id)
		case i > 0 && row.markers.delegate.present:
			return fmt.Sprintf("session %.200q is a delegate", id)
		}
	}
	return ""
}

// mayContinue tells whether a child can be the preferred continuation of a parent that ended by compression.
func (r *localRow) mayContinue() bool { return !r.markers.any() && !r.hasSource(sourceTool) }

// preferredContinuation is the id of the candidate that the Agent goes on with after a compression (contract 5b.1); nothing
// where the parent did not end by one or has no candidate.
func preferredContinuation(parent *localRow, candidates []*localRow) string {
	if parent == nil || !parent.ended(endCompression) || len(candidates) == 0 {
		return ""
	}
	return slices.MaxFunc(contenders(candidates), func(a, b *localRow) int {
		return cmp.Or(compareTimes(a.activity(), b.activity()), compareTimes(a.startedAt, b.startedAt), strings.Compare(a.id, b.id))
	}).id
}

// contenders are the candidates of the best kind: only among them times matter.
func contenders(candidates []*localRow) []*localRow {
	best := slices.MinFunc(candidates, func(a, b *localRow) int { return a.rank() - b.rank() }).rank()
	return slices.DeleteFunc(slices.Clone(candidates), func(r *localRow) bool { return r.rank() != best })
}

// rank is lower for what is preferred: a child that was compressed itself, then one that is still open.
func (r *localRow) rank() int {
	switch {
	case r.ended(endCompression):
		return 0
	case r.endedAt == nil:
		return 1
	}
	return 2
}

// activity is the later of the two times that tell of activity, or when the session started where neither counts.
func (r *localRow) activity() any {
	latest := r.newestMessage
	if compareTimes(r.lastActivity, latest) > 0 {
		latest = r.lastActivity
	}
	if _, ok := seconds(latest); !ok {
		return r.startedAt
	}
	return latest
}

// compareTimes orders two times; one that does not count is before all others.
func compareTimes(a, b any) int {
	x, xCounts := seconds(a)
	y, yCounts := seconds(b)
	switch {
	case xCounts && yCounts:
		return cmp.Compare(x, y)
	case xCounts:
		return 1
	case yCounts:
		return -1
	}
	return 0
}

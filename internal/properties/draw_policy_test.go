package properties

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// drawnPolicy is a local policy before it is written.
type drawnPolicy struct {
	profile, principal, request, route string
	legacy                             string // the session that it was made for; empty for one that a request made
}

func drawPolicy(d draw) *drawnPolicy {
	if d.seldom("no policy", 1) {
		return nil
	}
	p := &drawnPolicy{
		profile: "profile", principal: d.text("owner", "p", odd), route: "agent:main:1",
		request: d.text("made by", "r", "bot-chat:1", "a2a:1", "r"+odd, "bot-chat"),
	}
	if d.seldom("legacy", 2) {
		p.legacy = d.text("legacy id", idPool[:4]...)
	}
	return p
}

// owner is the id of the conversation.
func (p *drawnPolicy) owner() string {
	if p.legacy != "" {
		return p.legacy
	}
	return localID(p.profile, p.principal, p.request)
}

// localID is contract 5b.1: SHA-256 of a compact array in ASCII.
func localID(texts ...string) string {
	var list []string
	for _, text := range texts {
		var out strings.Builder
		for _, unit := range utf16.Encode([]rune(text)) {
			switch {
			case unit == '"' || unit == '\\':
				out.WriteString(`\` + string(rune(unit)))
			case unit == '\t':
				out.WriteString(`\t`)
			case unit >= 0x20 && unit < 0x80:
				out.WriteRune(rune(unit))
			default:
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		}
		list = append(list, `"`+out.String()+`"`)
	}
	sum := sha256.Sum256([]byte("[" + strings.Join(list, ",") + "]"))
	return "local-" + hex.EncodeToString(sum[:])
}

// drawConversation makes some of the sessions one local conversation, and seldom breaks it in one place.
func (s *anyStore) drawConversation(d draw, p *drawnPolicy) {
	s.owner = p.owner()
	lineage := []string{s.owner}
	for _, id := range rapid.Permutation(s.ids).Draw(d.T, "lineage")[:rapid.IntRange(0, min(2, len(s.ids)-1)).Draw(d.T, "resets")] {
		if id != s.owner {
			lineage = append(lineage, id)
		}
	}
	for i, id := range lineage {
		r := s.session(id)
		if r == nil { // the owner of a legacy policy may be no session here
			continue
		}
		r["chat_id"], r["user_id"], r["session_key"] = s.owner, p.principal, p.route
		r["model_config"] = nil
		if r["source"] == "tool" {
			r["source"] = "cli"
		}
		if i > 0 {
			r["parent_session_id"] = lineage[i-1]
			if before := s.session(lineage[i-1]); before != nil && before["end_reason"] == "session_reset" {
				r["model_config"] = s.resetFrom(lineage[i-1])
			} else if before != nil {
				before["end_reason"] = "compression"
			}
		}
		if i == len(lineage)-1 && r["end_reason"] == "compression" && d.seldom("open", 1) {
			r["end_reason"] = nil
		}
	}
	policy := map[string]any{
		"session_id": s.owner, "profile_id": p.profile, "principal_id": p.principal, "request_id": p.request, "route": p.route,
		"lineage": anyList(lineage), "entry": map[string]any{"session_id": lineage[len(lineage)-1]},
	}
	bound := map[string]any{"session_id": s.owner, "profile_id": p.profile, "principal_id": p.principal, "legacy_session_id": s.owner}
	if p.legacy != "" {
		policy["legacy_session_id"] = p.legacy
		delete(policy, "request_id")
	} else if len(lineage) == 1 && d.seldom("alone", 1) {
		delete(policy, "lineage")
	}
	text := ""
	if d.seldom("break", 1) {
		text = s.breakPolicy(d, policy, bound, lineage)
	}
	if text == "" {
		text = jsonOf(policy)
	}
	s.meta("gateway.local_policy.v1:"+s.owner, text)
	if p.legacy != "" && len(bound) > 0 {
		s.meta("gateway.local_legacy.v1:"+s.owner, jsonOf(bound))
	}
}

func (s *anyStore) resetFrom(id string) string {
	r := reading{reset: &id}
	return s.configured(`{"_reset_from": `+quote(id)+`}`, config{readable: true, sqlite: r, python: r})
}

func anyList(texts []string) []any {
	list := []any{}
	for _, text := range texts {
		list = append(list, text)
	}
	return list
}

// breakPolicy changes one thing, in the policy, beside it, or in a row of a member. It may give the text of the policy.
func (s *anyStore) breakPolicy(d draw, policy, bound map[string]any, lineage []string) (text string) {
	other := s.anyID(d, "other")
	member := s.session(d.text("member", lineage...))
	if member == nil {
		member = row{}
	}
	breaks := []func(){
		func() { text = d.text("text", "{broken", "[]", "null", "7", `"x"`) },
		func() { delete(policy, "entry") },
		func() { policy["entry"] = map[string]any{"session_id": other} },
		func() { policy["entry"] = map[string]any{"session_id": 7} },
		func() { policy["lineage"] = nil },
		func() { policy["lineage"] = []any{} },
		func() { policy["lineage"] = append(anyList(lineage), lineage[0]) },
		func() { policy["lineage"] = append(anyList(lineage), other) },
		func() { policy["lineage"] = append([]any{other}, anyList(lineage)...) },
		func() { policy["lineage"] = append(anyList(lineage), "") },
		func() { policy["lineage"] = append(anyList(lineage), 7) },
		func() { policy["session_id"] = other },
		func() { policy["principal_id"] = "another" },
		func() { policy["profile_id"] = nil },
		func() { policy["route"] = "another" },
		func() { delete(policy, "route") },
		func() { policy["request_id"] = "another" },
		func() { policy["legacy_session_id"] = other },
		func() { policy["legacy_session_id"] = nil },
		func() { bound["more"] = 1 },
		func() { bound["principal_id"] = "another" },
		func() { clear(bound) },
		func() { policy["padding"] = strings.Repeat("x", 1_000_000) },
		func() { member["user_id"] = "another" },
		func() { member["session_key"] = nil },
		func() { member["chat_id"] = nil },
		func() { member["source"] = "tool" },
		func() { member["model_config"] = s.configured("{broken _delegate_from", config{}) },
		func() { member["model_config"] = s.drawConfig(d) },
		func() { member["parent_session_id"] = other },
		func() { member["end_reason"] = d.one("end", "branched", nil, "compression", "session_reset") },
		func() {
			s.tables["sessions"] = slices.DeleteFunc(s.tables["sessions"], func(r row) bool { return r["id"] == member["id"] })
		},
	}
	rapid.SampledFrom(breaks).Draw(d.T, "what")()
	return text
}

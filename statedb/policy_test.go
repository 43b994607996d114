package statedb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a record says, read as Python reads it.
func TestParsePolicy(t *testing.T) {
	whole := policy{
		sessionID: "o", profileID: "p", principalID: "h", requestID: "a2a:r", route: "k", entrySessionID: "b", lineage: []string{"o", "b"},
	}
	const text = `{"session_id":"o","profile_id":"p","principal_id":"h","request_id":"a2a:r","route":"k",` +
		`"entry":{"session_id":"b"},"lineage":["o","b"]}`
	for name, test := range map[string]struct{ old, replacement string }{
		"as it is":            {"", ""},
		"white space":         {"{", " \t\r\n{ "},
		"an unknown field":    {"{", `{"policy":{"session_id":"x","lineage":null},`},
		"what only Python is": {"{", `{"n":NaN,"i":[-Infinity,Infinity],`},
		"the last of two":     {"{", `{"session_id":"x","lineage":["x"],"entry":5,`},
		"an escaped key":      {`"session_id"`, `"session\u005fid"`},
		"an escaped value":    {`"h"`, `"\u0068"`},
		"another case beside": {`}`, `,"Session_ID":"y"}`},
		"a case of its own":   {`"lineage"`, `"LINEAGE":["x"],"Lineage":null,"Entry":{},"Route":5,"lineage"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, ok := parsePolicy(strings.ReplaceAll(text, test.old, test.replacement))
			require.True(t, ok)
			assert.Equal(t, whole, p)
		})
	}

	p, ok := parsePolicy(strings.Replace(text, `,"lineage":["o","b"]`, "", 1))
	require.True(t, ok)
	assert.Equal(t, []string{"o"}, p.lineage, "the owner alone where the record has no lineage")
	p, ok = parsePolicy(strings.Replace(text, `"route"`, `"legacy_session_id":"x","route"`, 1))
	require.True(t, ok)
	assert.Equal(t, new("x"), p.legacySessionID)
	assert.Empty(t, p.fault)
}

func TestNoPolicies(t *testing.T) {
	for _, text := range []string{
		"", " ", "null", "5", "true", `"{}"`, `[{"session_id":"o"}]`, `{"session_id":"o"`, `{"session_id":"o"} x`, `{'session_id':'o'}`,
		`{"session_id":"o",}`, "{\"session_id\":\"\xff\"}", "{\"session_id\":\"a\nb\"}", "\ufeff{}", `{NaN:1}`,
	} {
		_, ok := parsePolicy(text)
		assert.False(t, ok, "%q", text)
	}
}

// What a sweep takes for a local conversation, from a record that does not hold too.
func TestIDsOfAPolicy(t *testing.T) {
	for text, want := range map[string][]string{
		`{}`:                 nil,
		`{"session_id":"o"}`: {"o"},
		`{"session_id":"o","lineage":["o","a","b"],"entry":{"session_id":"b"}}`:         {"o", "a", "b"},
		`{"session_id":"o","lineage":["a","o","a"],"entry":{"session_id":"x"}}`:         {"o", "a", "x"},
		`{"session_id":"o","lineage":["a",5,null,"","b"],"entry":{"session_id":7}}`:     {"o", "a", "b"},
		`{"session_id":"o","lineage":null,"entry":{"session_id":"x"}}`:                  {"o", "x"},
		`{"session_id":"o","lineage":"a","entry":"b"}`:                                  {"o"},
		`{"lineage":["a"],"entry":{"session_id":"x"}}`:                                  {"a", "x"},
		`{"Session_ID":"o","Lineage":["a"],"entry":{"Session_id":"x"},"lineage":["b"]}`: {"b"},
	} {
		p, ok := parsePolicy(text)
		require.True(t, ok, text)
		assert.Equal(t, want, p.ids(), text)
	}
	p, ok := parsePolicy(`{"session_id":"o","pad":"` + strings.Repeat("x", maxPolicyCharacters) + `"}`)
	require.True(t, ok)
	assert.Equal(t, []string{"o"}, p.ids())
	assert.NotEmpty(t, p.recordFault("o"))
}

func TestDerivedConversations(t *testing.T) {
	for request, want := range map[string]bool{
		`"bot-chat:"`: true, `"bot-chat:x"`: true, `"a2a:x"`: true, `"bot-chat"`: false, `"A2A:x"`: false, `" a2a:x"`: false, `"xa2a:"`: false,
		`5`: false, `null`: false, `"req"`: false,
	} {
		p, ok := parsePolicy(`{"request_id":` + request + `}`)
		require.True(t, ok)
		assert.Equal(t, want, p.derived(), request)
	}
}

// The ids were made with Python: json.dumps([profile, principal, request], separators=(',', ':')) and its SHA-256.
func TestLocalIDs(t *testing.T) {
	for _, test := range localIDs {
		p := policy{profileID: test.profile, principalID: test.principal, requestID: test.request}
		p.sessionID = test.id
		assert.True(t, p.isNamedAfterRequest(), "%q %q %q", test.profile, test.principal, test.request)
		p.sessionID = strings.ToUpper(test.id)
		assert.False(t, p.isNamedAfterRequest(), "%q %q %q", test.profile, test.principal, test.request)
	}
}

var localIDs = []struct{ profile, principal, request, id string }{
	{"p", "human", "req-1", "local-e10b395667956e750e034f2710ab49ae0a5f2bdd22d1a348eca2b95a7db25237"},
	{"", "", "", "local-799c55d702efedb7750db18b36386fc3a3f4be7dddcfb649adeb41a3ed0da228"},
	{"<p>&", "a&b<c>", "r", "local-24729494f3db1751a77829a1e6f7e1f779d8a28c7340c84432cc25d81d0fcaea"},
	{"p", "\U0001f600\U0001f1e9", "r", "local-a11a793dd58340a84b11600e506da370f6de7b5a5698f700fe3cd5a8b6ca0253"},
	{"p", "h\u2028\u2029", "r", "local-8c6301b5201878113534cc12cd65bfb3d0fe7aa1455e7e6da9f4b4fc1ba28fdb"},
	{"p", "Jörg Éł", "r", "local-22067a9e91c4969055be372d1a578d90d21787f65c473bd33e0083aac1d5da0c"},
	{"p", "e\u0301", "r", "local-8ec84b40baca0773b31d8ef1f25be9bfd2df5add0b79363894b59f1d44895eeb"}, // not é, which is another text
	{"p", "a\x00b", "c\x00", "local-0c404b136ba03dd3dfc2e9be654868302eaee93b8e4668a4d8ad44d31bd13a0b"},
	{"p", `q"\/`, "\b\f\n\r\t\x1f", "local-bfe38602b368d4cb87c3fc3424148f444cfdf914c63e41d85fa4ac0c589f1adc"},
	{"p", "\ufffd\uffff", "r", "local-2531e6b26c4e9f444f249bbb72e324218d2f08be8c8a919d459469c004c29a07"},
	// Contract 5b.1 keeps U+007F as it is, Python writes \u007f: either will do.
	{"p", "a\x7fb", "r", "local-61ecf557ae02669810e8131bd0df98d31e04ff79fad4bf45ab5198cb6f5692bf"},
	{"p", "a\x7fb", "r", "local-f1421b719c5f06a7ef05c2e886a2075d1c4d55756864507ebd1c4cf63a7de7f0"},
}

// localChild is a candidate with the given end and times.
type localChild struct {
	id, end                           string
	ended, activity, message, started any
}

func (c localChild) row() *localRow {
	row := &localRow{lastActivity: c.activity, newestMessage: c.message}
	row.id, row.endedAt, row.startedAt = c.id, c.ended, c.started
	if c.end != "" {
		row.endReason = &c.end
	}
	return row
}

// Each pair differs in one level of contract 5b.1's order, and in every later one the other way round.
func TestPreferredContinuation(t *testing.T) {
	const early, late, never, tooLate = 10.0, 20.0, -62135596800.5, 253402300801.0
	for name, pair := range map[string]struct{ preferred, other localChild }{
		"compressed before open": {
			localChild{id: "a", end: endCompression, ended: 1.0, activity: early, started: early}, localChild{id: "z", activity: late, started: late},
		},
		"compressed without an end": {
			localChild{id: "a", end: endCompression, activity: early, started: early}, localChild{id: "z", activity: late, started: late},
		},
		"open before ended": {
			localChild{id: "a", activity: early, started: early}, localChild{id: "z", end: endCLIClose, ended: 1.0, activity: late, started: late},
		},
		"an end without a reason is one": {
			localChild{id: "a", end: endCLIClose, activity: early, started: early}, localChild{id: "z", ended: 1.0, activity: late, started: late},
		},
		"active later":                {localChild{id: "a", activity: late, started: early}, localChild{id: "z", activity: early, started: late}},
		"active later, whole seconds": {localChild{id: "a", activity: int64(20), started: early}, localChild{id: "z", activity: 19.5, started: late}},
		"a later message":             {localChild{id: "a", message: late, started: early}, localChild{id: "z", message: early, started: late}},
		"a message after the activity": {
			localChild{id: "a", activity: early, message: late, started: early}, localChild{id: "z", activity: 15.0, started: late},
		},
		"an activity after the message": {
			localChild{id: "a", activity: late, message: early, started: early}, localChild{id: "z", message: 15.0, started: late},
		},
		"the start for want of both": {localChild{id: "a", started: late}, localChild{id: "z", activity: 15.0, started: late}},
		"no start where one is there": {
			localChild{id: "a", activity: late, started: early}, localChild{id: "z", activity: early, started: 99.0},
		},
		"started later":            {localChild{id: "a", activity: early, started: late}, localChild{id: "z", activity: early, started: early}},
		"the greater id":           {localChild{id: "b", activity: early, started: early}, localChild{id: "a", activity: early, started: early}},
		"ids byte by byte":         {localChild{id: "a", activity: early, started: early}, localChild{id: "Z", activity: early, started: early}},
		"beyond the range":         {localChild{id: "a", activity: early, started: early}, localChild{id: "z", activity: tooLate, started: 5.0}},
		"before the range":         {localChild{id: "a", activity: -62135596800.0, started: never}, localChild{id: "z", activity: never, started: never}},
		"before the range is none": {localChild{id: "z"}, localChild{id: "a", activity: never, message: never, started: never}},
		"the end of the range":     {localChild{id: "a", activity: 253402300800.0, started: early}, localChild{id: "z", activity: 253402300799.0, started: late}},
		"a whole number beyond":    {localChild{id: "a", activity: early, started: early}, localChild{id: "z", activity: int64(1) << 60, started: 5.0}},
		"numeric text":             {localChild{id: "a", activity: early, started: early}, localChild{id: "z", activity: "99", started: 5.0}},
		"text":                     {localChild{id: "a", activity: early, started: early}, localChild{id: "z", activity: "2026-01-01T00:00:00Z", started: "x"}},
		"a blob":                   {localChild{id: "a", activity: early, started: early}, localChild{id: "z", activity: []byte("99"), started: []byte("99")}},
		"a message that does not count": {
			localChild{id: "a", activity: early, started: early}, localChild{id: "z", activity: 5.0, message: tooLate, started: late},
		},
		"no time at all":               {localChild{id: "a", activity: -5.0, started: -5.0}, localChild{id: "z"}},
		"a start that does not count":  {localChild{id: "a", activity: early, started: never + 1}, localChild{id: "z", activity: early, started: tooLate}},
		"neither start counts, so ids": {localChild{id: "z", activity: early, started: "x"}, localChild{id: "a", activity: early, started: tooLate}},
	} {
		t.Run(name, func(t *testing.T) {
			parent := &localRow{}
			parent.endReason = new(endCompression)
			both := []*localRow{pair.preferred.row(), pair.other.row()}
			assert.Equal(t, pair.preferred.id, preferredContinuation(parent, both))
			slices.Reverse(both)
			assert.Equal(t, pair.preferred.id, preferredContinuation(parent, both))
		})
	}
}

func TestNoPreferredContinuation(t *testing.T) {
	candidates := []*localRow{localChild{id: "a"}.row()}
	assert.Empty(t, preferredContinuation(nil, candidates))
	parent := &localRow{}
	assert.Empty(t, preferredContinuation(parent, candidates))
	parent.endReason = new(endCLIClose)
	assert.Empty(t, preferredContinuation(parent, candidates))
	parent.endReason = new(endCompression)
	assert.Empty(t, preferredContinuation(parent, nil))
	assert.Equal(t, "a", preferredContinuation(parent, candidates))
}

// Who is no candidate: a tool's session, and whoever carries one of the three markers, whatever it says.
func TestWhoMayContinue(t *testing.T) {
	for config, want := range map[string]bool{
		``: true, `{}`: true, `{"_reset_from":null}`: true, `{broken`: true, `[1]`: true, `{"_Reset_From":"x"}`: true,
		`{"_reset_from":"x"}`: false, `{"_branched_from":"x"}`: false, `{"_delegate_from":"x"}`: false, `{"_delegate_from":[]}`: false,
		`{"_reset_from":0}`: false, `{"_reset_from":"x","_reset_from":null}`: true,
	} {
		row := &localRow{}
		row.markers = readMarkers(&config)
		assert.Equal(t, want, row.mayContinue(), config)
	}
	for source, want := range map[string]bool{"tool": false, "Tool": true, "": true, "subagent": true} {
		row := &localRow{}
		row.source = &source
		assert.Equal(t, want, row.mayContinue(), source)
	}
}

func TestHowManyMembers(t *testing.T) {
	legacy := "s0"
	p := policy{sessionID: legacy, legacySessionID: &legacy}
	for i := range maxPolicyMembers {
		p.lineage = append(p.lineage, fmt.Sprint("s", i))
	}
	p.entrySessionID = p.lineage[len(p.lineage)-1]
	assert.Empty(t, p.recordFault(legacy))
	p.lineage, p.entrySessionID = append(p.lineage, "more"), "more"
	assert.Contains(t, p.recordFault(legacy), "1001 members")
	p.lineage = nil
	assert.Contains(t, p.recordFault(legacy), "0 members")
}

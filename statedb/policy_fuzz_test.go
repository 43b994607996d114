package statedb

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzPolicy reads any text as the policy of any owner, and holds what it decides against the record as JSON has it. Its rows are
// made to fit, so that a policy can hold, and then one of them no more.
func FuzzPolicy(f *testing.F) {
	local := localIDs[0]
	whole := fmt.Sprintf(`{"session_id":%[1]q,"profile_id":%q,"principal_id":%q,"request_id":%q,"route":"k","entry":{"session_id":"b"},`+
		`"lineage":[%[1]q,"a","b"]}`, local.id, local.profile, local.principal, local.request)
	older := `{"session_id":"o","legacy_session_id":"o","profile_id":"p","principal_id":"h","route":"k","entry":{"session_id":"o"}}`
	for _, text := range []string{
		"", "{}", "null", "[]", whole, older, `{"session_id":"o","lineage":null}`, `{"session_id":"o","lineage":["o","o",5,""],"entry":7}`,
		`{"n":NaN,"session_id":"x","session_id":"o","entry":{"session_id":"o"}}`, "{\"session_id\":\"\xff\"}", `{"\u0073ession_id":"\ud800"}`,
		`{"legacy_session_id":5,"request_id":"a2a:","session_id":"o","entry":{"session_id":"o","session_id":null}}`,
	} {
		f.Add(text, "o", byte(0))
		f.Add(text, local.id, byte(1))
	}
	f.Fuzz(func(t *testing.T, text, owner string, broken byte) {
		p, ok := parsePolicy(text)
		if !ok {
			require.False(t, isPlainObject(text), "%q", text)
			return
		}
		require.True(t, utf8.ValidString(text))
		for _, id := range p.ids() {
			require.NotEmpty(t, id)
		}
		fault := p.recordFault(owner)
		again, _ := parsePolicy(text)
		require.Equal(t, p, again)
		if fault != "" {
			return
		}
		require.Equal(t, owner, p.sessionID)
		require.Equal(t, owner, p.lineage[0])
		require.Equal(t, p.entrySessionID, p.lineage[len(p.lineage)-1])
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(p.lineage))), len(p.lineage))
		require.Equal(t, p.lineage, p.ids())

		rows := rowsOf(t, p)
		require.Empty(t, p.lineageFault(rows))
		if !p.noRoute {
			require.Empty(t, p.memberFault(rows))
		}
		id := p.lineage[int(broken)%len(p.lineage)]
		delete(rows.members, id)
		require.NotEmpty(t, p.memberFault(rows), "without the row of %q", id)
		if len(p.lineage) > 1 {
			require.NotEmpty(t, p.lineageFault(rows), "without the row of %q", id)
		}
	})
}

// isPlainObject tells whether encoding/json takes a text for an object.
func isPlainObject(text string) bool {
	var object map[string]json.RawMessage
	return utf8.ValidString(text) && json.Unmarshal([]byte(text), &object) == nil && object != nil
}

// rowsOf are rows of which the policy holds: each member came from the reset of the one before.
func rowsOf(t *testing.T, p policy) localRows {
	t.Helper()
	rows := localRows{members: map[string]*localRow{}}
	for i, id := range p.lineage {
		r := &localRow{session: *row(id, ""), userID: &p.principalID, sessionKey: &p.route}
		r.chatID = &p.sessionID
		if i > 0 {
			r.parent, r.markers.reset = &p.lineage[i-1], names(p.lineage[i-1])
		}
		if i < len(p.lineage)-1 {
			ended(endSessionReset)(&r.session)
		}
		rows.members[id] = r
	}
	if p.legacySessionID != nil {
		record, err := json.Marshal(map[string]string{
			"session_id": p.sessionID, "profile_id": p.profileID, "principal_id": p.principalID, "legacy_session_id": *p.legacySessionID,
		})
		require.NoError(t, err)
		legacy := string(record)
		rows.legacy = &legacy
	}
	return rows
}

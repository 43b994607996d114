package statedb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

// Contract 5b.2: whose policy counts, and what is asked of one that the row's chat does not lead to.
func TestTheOwner(t *testing.T) {
	const unbound = `UPDATE sessions SET chat_id = NULL, user_id = 'whoever', session_key = NULL`
	t.Run("a session that no policy speaks of", func(t *testing.T) {
		home := localStore(t, asJSON(t, localPolicy()), `INSERT INTO sessions (id, source, chat_id, started_at) VALUES ('x', 'cli', 'chat', 1), ('y', 'cli', '', 1)`)
		for _, id := range []string{"x", "y", "absent", "LOCAL-", strings.ToUpper(localOwner)} {
			requireMembers(t, home, id, id)
		}
		putPolicy(t, home, "", "broken") // an empty chat_id is none
		requireMembers(t, home, "y", "y")
	})
	t.Run("without its chat the owner leads to its own policy", func(t *testing.T) {
		home := localStore(t, asJSON(t, localPolicy()), unbound)
		requireMembers(t, home, localOwner, localOwner, "b", "c")
		requireMembers(t, home, "b", "b")
		requireMembers(t, home, "c", "c")
	})
	t.Run("its lineage must be valid all the same", func(t *testing.T) {
		home := localStore(t, asJSON(t, localPolicy()), unbound, `UPDATE sessions SET end_reason = 'cli_close' WHERE id = 'b'`)
		_, err := membersOf(t, home, localOwner)
		requireDetail(t, err, ErrReceiptInvalid, `"b" ended neither`)
		requireMembers(t, home, "b", "b")
	})
	t.Run("its members' rows are not asked", func(t *testing.T) {
		r := localPolicy()
		delete(r, "route")
		home := localStore(t, asJSON(t, r), unbound, `UPDATE sessions SET source = 'tool', model_config = '{"_reset_from":"b","_branched_from":"b"}' WHERE id = 'c'`,
			`UPDATE sessions SET model_config = '{' WHERE id = '`+localOwner+`'`)
		requireMembers(t, home, localOwner, localOwner, "b", "c")
	})
	t.Run("it must be the owner's", func(t *testing.T) {
		home := localStore(t, asJSON(t, localPolicy()), unbound)
		putPolicy(t, home, "b", asJSON(t, localPolicy()))
		_, err := membersOf(t, home, "b")
		requireDetail(t, err, ErrReceiptInvalid, `policy of the local conversation "b"`, "it is the policy of")
	})
	t.Run("it must be an object", func(t *testing.T) {
		home := localStore(t, "[]", unbound)
		_, err := membersOf(t, home, localOwner)
		requireDetail(t, err, ErrReceiptInvalid, "no JSON object")
	})
	t.Run("both must hold where the chat's does not list it", func(t *testing.T) {
		home := localStore(t, asJSON(t, localPolicy()))
		putPolicy(t, home, "side", "{}")
		_, err := membersOf(t, home, "side")
		requireDetail(t, err, ErrReceiptInvalid, `conversation "side"`)
		home.Exec(`UPDATE state_meta SET value = '{}' WHERE key LIKE '%local-%'`)
		_, err = membersOf(t, home, "side")
		requireDetail(t, err, ErrReceiptInvalid, localOwner)
	})
	t.Run("the chat's policy goes first", func(t *testing.T) {
		home := localStore(t, asJSON(t, localPolicy()))
		putPolicy(t, home, "c", "broken, and nobody asks")
		requireMembers(t, home, "c", localOwner, "b", "c")
	})
	t.Run("a session that is gone", func(t *testing.T) {
		r := localPolicy()
		delete(r, "lineage")
		r["entry"] = map[string]any{"session_id": localOwner}
		home := localStore(t, asJSON(t, r), `DELETE FROM sessions`)
		requireMembers(t, home, localOwner, localOwner)
		home = localStore(t, asJSON(t, localPolicy()), `DELETE FROM sessions`)
		_, err := membersOf(t, home, localOwner)
		requireDetail(t, err, ErrReceiptInvalid, "is not there")
	})
}

// A conversation whose first session is older than its policy.
func TestOlderSessions(t *testing.T) {
	r := localPolicy()
	r["session_id"], r["legacy_session_id"], r["lineage"] = "old", "old", []any{"old", "b", "c"}
	legacy := map[string]any{"session_id": "old", "profile_id": "p", "principal_id": "human", "legacy_session_id": "old"}
	rows := strings.ReplaceAll(localRowsSQL, localOwner, "old")
	ask := func(t *testing.T, record map[string]any, legacyKey string, legacy any) ([]string, error) {
		t.Helper()
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema, rows)
		putPolicy(t, home, "old", asJSON(t, record))
		_, err := home.Open().Exec("INSERT INTO state_meta VALUES (?, ?)", legacyKey, legacy)
		require.NoError(t, err)
		return membersOf(t, home, "c")
	}
	for name, text := range map[string]string{
		"as it is":            asJSON(t, legacy),
		"white space, order":  ` { "legacy_session_id": "old", "principal_id": "human", "profile_id": "p", "session_id": "old" } `,
		"escapes, last wins":  `{"session\u005fid":"x","session_id":"\u006fld","profile_id":"p","principal_id":"human","legacy_session_id":"old"}`,
		"repeated as it must": `{"profile_id":5,"session_id":"old","profile_id":"p","principal_id":"human","legacy_session_id":"old"}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, r, "gateway.local_legacy.v1:old", text)
			require.NoError(t, err)
			assert.Equal(t, []string{"old", "b", "c"}, got)
		})
	}
	t.Run("it is not named after its request", func(t *testing.T) {
		changed := localPolicy()
		changed["session_id"], changed["legacy_session_id"], changed["lineage"], changed["request_id"] = "old", "old", []any{"old", "b", "c"}, 5
		_, err := ask(t, changed, "gateway.local_legacy.v1:old", asJSON(t, legacy))
		require.NoError(t, err)
	})
	with := func(key string, value any) string {
		changed := map[string]any{key: value}
		for k, v := range legacy {
			if k != key {
				changed[k] = v
			}
		}
		return asJSON(t, changed)
	}
	without := func(key string) string {
		changed := map[string]any{}
		for k, v := range legacy {
			if k != key {
				changed[k] = v
			}
		}
		return asJSON(t, changed)
	}
	for name, value := range map[string]any{
		"a field too many":        with("route", "x"),
		"a field too many, null":  with("request_id", nil),
		"another case":            strings.Replace(asJSON(t, legacy), "profile_id", "Profile_id", 1),
		"no session_id":           without("session_id"),
		"no profile_id":           without("profile_id"),
		"no principal_id":         without("principal_id"),
		"no legacy_session_id":    without("legacy_session_id"),
		"another session_id":      with("session_id", "x"),
		"another profile_id":      with("profile_id", "x"),
		"another principal_id":    with("principal_id", nil),
		"another legacy id":       with("legacy_session_id", "b"),
		"a list":                  "[" + asJSON(t, legacy) + "]",
		"broken":                  "{",
		"NULL":                    nil,
		"a blob":                  []byte(asJSON(t, legacy)),
		"the last of two, broken": strings.Replace(asJSON(t, legacy), "}", `,"profile_id":"x"}`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t, r, "gateway.local_legacy.v1:old", value)
			requireDetail(t, err, ErrReceiptInvalid, "no record of the older session")
		})
	}
	t.Run("under another key", func(t *testing.T) {
		for _, key := range []string{"gateway.local_legacy.v1:OLD", "gateway.local_legacy.v1.old", "gateway.local_legacy.v1:b"} {
			_, err := ask(t, r, key, asJSON(t, legacy))
			requireDetail(t, err, ErrReceiptInvalid, "no record of the older session")
		}
	})
	t.Run("the name alone does not do", func(t *testing.T) {
		changed := localPolicy()
		changed["session_id"], changed["lineage"] = "old", []any{"old", "b", "c"}
		_, err := ask(t, changed, "gateway.local_legacy.v1:old", asJSON(t, legacy))
		requireDetail(t, err, ErrReceiptInvalid, "does not come from")
	})
}

// Text as it is: the row's user is the principal byte for byte, and the id is the one that Python makes of the three.
func TestPoliciesOfAnyText(t *testing.T) {
	for _, test := range localIDs {
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema)
		_, err := home.Open().Exec(`INSERT INTO sessions (id, source, user_id, session_key, chat_id, started_at) VALUES (?1, 'cli', ?2, ?3, ?1, 1)`,
			test.id, test.principal, test.request)
		require.NoError(t, err)
		r := map[string]any{
			"session_id": test.id, "profile_id": test.profile, "principal_id": test.principal, "request_id": test.request, "route": test.request,
			"entry": map[string]any{"session_id": test.id},
		}
		putPolicy(t, home, test.id, asJSON(t, r))
		requireMembers(t, home, test.id, test.id)
		r["principal_id"] = test.principal + " "
		putPolicy(t, home, "other", asJSON(t, r)) // of nobody here
		home.Exec(`UPDATE state_meta SET value = (SELECT value FROM state_meta WHERE key LIKE '%other')`)
		_, err = membersOf(t, home, test.id)
		requireDetail(t, err, ErrReceiptInvalid, "does not come from")
	}
}

// Members whose ids are odd text are found by their rows.
func TestMembersOfAnyText(t *testing.T) {
	for _, odd := range []string{"<b>&", "b\u2028", "\U0001f600", "é", "e\u0301", "b\x00c", `b"\'`, "\ufffd", "b\x7f"} {
		home := localStore(t, strings.ReplaceAll(asJSON(t, localPolicy()), `"b"`, asJSON(t, odd)))
		db := home.Open()
		for _, update := range []string{
			`UPDATE sessions SET id = ? WHERE id = 'b'`, `UPDATE sessions SET parent_session_id = ? WHERE id = 'c'`,
			`UPDATE sessions SET model_config = json_object('_reset_from', ?) WHERE id = 'c'`,
		} {
			_, err := db.Exec(update, odd)
			require.NoError(t, err)
		}
		// json_object ends its text at a NUL.
		_, err := db.Exec(`UPDATE sessions SET model_config = ? WHERE id = 'c'`, asJSON(t, map[string]string{"_reset_from": odd}))
		require.NoError(t, err)
		requireMembers(t, home, odd, localOwner, odd, "c")
	}
}

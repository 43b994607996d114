package statedb

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// runtimeStore makes a home with a store that has the runtime ledger.
func runtimeStore(t *testing.T, statements ...string) *sidecartest.Home {
	t.Helper()
	home := newHome(t)
	home.Create(append([]string{fixtures.RuntimeSchema}, statements...)...)
	return home
}

func mediaPath(hash string) string { return "/h/native-inputs/" + hash + "/a.png" }

// noteMedia notes media as a retirement does.
func noteMedia(home *sidecartest.Home, hashes ...string) (noted []NotedMedia) {
	db := home.Open()
	for _, hash := range hashes {
		m := NotedMedia{mediaKey(mediaPath(hash)), mediaPath(hash), hash}
		_, _ = db.Exec("INSERT INTO state_meta VALUES (?, ?)", m.Key, fmt.Sprintf(`{"path":%q,"sha256":%q,"size":1}`, m.Path, m.SHA256))
		noted = append(noted, m)
	}
	return noted
}

// mentionedMedia asks without the write lock.
func mentionedMedia(t *testing.T, home *sidecartest.Home, media []NotedMedia, seen map[string]Sighting) map[string]Sighting {
	t.Helper()
	m, err := startLook(t, home).Mentioned(t.Context(), media, nil, seen)
	require.NoError(t, err)
	return m.Media
}

func TestNotedMedia(t *testing.T) {
	home := runtimeStore(t)
	noted := noteMedia(home, hashA, hashB)
	db := home.Open()
	for key, value := range map[string]any{
		mediaPrefix + strings.Repeat("0", 64): `{"path":"/another","sha256":"x"}`, // a key that is another path's
		mediaKey("/1"):                        `{"path":"/1"}`,
		mediaKey("/2"):                        `{"path":"/2","sha256":5}`,
		mediaKey("/3"):                        `[]`,
		mediaKey("/4"):                        `{"path":"/4","sha256":"x"`,
		mediaKey("/5"):                        nil,
		mediaKey("/8"):                        `{"path":"/8","sha256":""}`,
		mediaKey("/6"):                        `{"Path":"/6","sha256":"x"}`,
		strings.ToUpper(mediaKey("/7")):       `{"path":"/7","sha256":"x"}`,
	} {
		_, err := db.Exec("INSERT INTO state_meta VALUES (?, ?)", key, value)
		require.NoError(t, err)
	}
	got, err := NotedFiles(t.Context(), home.Store())
	require.NoError(t, err)
	assert.ElementsMatch(t, noted, got.Media)
	assert.Empty(t, got.Spilled)
}

func TestAStoreThatNotesNothing(t *testing.T) {
	for name, statement := range map[string]string{
		"no state_meta":      "DROP TABLE state_meta",
		"part of the ledger": "DROP TABLE worker_receipts",
		"no routing":         "DROP TABLE gateway_routing",
		"no payloads":        "DROP TABLE session_admissions; CREATE TABLE session_admissions (target_session_id TEXT)",
	} {
		t.Run(name, func(t *testing.T) {
			home := runtimeStore(t)
			noteMedia(home, hashA)
			home.Exec("DROP TRIGGER sessions_runtime_ledger_delete_guard", statement)
			notes, err := NotedFiles(t.Context(), home.Store())
			require.NoError(t, err)
			assert.True(t, notes.Empty())
		})
	}
	home := newStore(t, "INSERT INTO state_meta VALUES ('"+mediaKey("/1")+`', '{"path":"/1","sha256":"x"}')`)
	notes, err := NotedFiles(t.Context(), home.Store())
	require.NoError(t, err)
	assert.True(t, notes.Empty(), "a legacy store")
}

const twoSessions = `INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1), ('b', 'cli', 2);`

// Every column of a message counts, whatever it is declared as, and so does every admission.
func TestWhoMentionsMedia(t *testing.T) {
	for name, statement := range map[string]string{
		"content":         `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'see /h/native-inputs/%s/a.png', 1)`,
		"the hash alone":  `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'x%sx', 1)`,
		"upper case":      `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', upper('%s'), 1)`,
		"media_content":   `INSERT INTO messages (session_id, role, media_content, timestamp) VALUES ('a', 'user', '["\/h\/native-inputs\/%s\/a.png"]', 1)`,
		"tool_calls":      `INSERT INTO messages (session_id, role, tool_calls, timestamp) VALUES ('a', 'user', 'C:\\native-inputs\\%s', 1)`,
		"a blob":          `INSERT INTO messages (session_id, role, reasoning, timestamp) VALUES ('a', 'user', CAST('%s' AS BLOB), 1)`,
		"a number column": `INSERT INTO messages (session_id, role, timestamp) VALUES ('a', 'user', '%s')`,
		"after a NUL":     `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'x' || char(0) || '%s', 1)`,
		"a new column":    `ALTER TABLE messages ADD COLUMN "odd ""column"; INSERT INTO messages (session_id, role, timestamp, "odd ""column") VALUES ('a', 'user', 1, '%s')`,
		"an admission": `INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json, payload_digest, intent, status, owner_epoch)
			VALUES ('x', 'r', 'p', 'a', '[]', '{"text":"%s', 'd', 'i', 'terminal', 1)`,
	} {
		t.Run(name, func(t *testing.T) {
			home := runtimeStore(t, twoSessions)
			noted := noteMedia(home, hashA, hashB)
			home.Exec(fmt.Sprintf(statement, hashA))
			found := mentionedMedia(t, home, noted, nil)
			require.Len(t, found, 1)
			assert.Contains(t, found, noted[0].Path)
			m, err := begin(t, home).Mentioned(t.Context(), noted, nil, nil)
			require.NoError(t, err)
			assert.Equal(t, found, m.Media)
		})
	}
}

// What was seen once is looked at first, and believed only as long as it is there.
func TestSightings(t *testing.T) {
	home := runtimeStore(t, twoSessions, `INSERT INTO messages (id, session_id, role, content, timestamp) VALUES
		(1, 'a', 'user', '`+hashA+`', 1), (2, 'a', 'user', '`+hashA+`', 1), (3, 'b', 'user', '`+hashB+`', 1)`)
	noted := noteMedia(home, hashA, hashB)
	ask := func(seen map[string]Sighting) map[string]Sighting {
		return mentionedMedia(t, home, noted, seen)
	}
	a, b := noted[0].Path, noted[1].Path
	assert.Equal(t, map[string]Sighting{a: {"messages", 1}, b: {"messages", 3}}, ask(nil))
	assert.Equal(t, map[string]Sighting{a: {"messages", 2}, b: {"messages", 3}}, ask(map[string]Sighting{a: {"messages", 2}}))
	assert.Equal(t, map[string]Sighting{a: {"messages", 1}, b: {"messages", 3}},
		ask(map[string]Sighting{a: {"messages", 3}, b: {"session_admissions", 3}}))
	home.Exec("DELETE FROM messages WHERE id = 3")
	assert.Equal(t, map[string]Sighting{a: {"messages", 1}}, ask(map[string]Sighting{b: {"messages", 3}}))
}

func TestThousandsOfMediaAtOnce(t *testing.T) {
	home := runtimeStore(t, twoSessions)
	var noted []NotedMedia
	seen := map[string]Sighting{}
	db := home.Open()
	for i := range 2500 {
		hash := fmt.Sprintf("%064x", i)
		noted = append(noted, NotedMedia{mediaKey(mediaPath(hash)), mediaPath(hash), hash})
		if i%2 == 0 {
			_, err := db.Exec("INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (?, 'a', 'user', ?, 1)", i+1, hash)
			require.NoError(t, err)
		}
	}
	found := mentionedMedia(t, home, noted, nil)
	assert.Len(t, found, 1250)
	maps.Copy(seen, found)
	assert.Equal(t, found, mentionedMedia(t, home, noted, seen))
}

func TestForgetMedia(t *testing.T) {
	home := runtimeStore(t)
	noted := noteMedia(home, hashA, hashB)
	tx := begin(t, home)
	require.NoError(t, tx.ForgetMedia(t.Context(), noted[:1]))
	notes, err := tx.NotedFiles(t.Context())
	require.NoError(t, err)
	assert.Equal(t, noted[1:], notes.Media)
	require.NoError(t, tx.Commit())
	assert.Equal(t, []string{noted[1].Key}, home.Query("SELECT key FROM state_meta"))
}

func TestACancelledQuestion(t *testing.T) {
	home := runtimeStore(t, twoSessions)
	_, err := startLook(t, home).Mentioned(cancelled(t), noteMedia(home, hashA), nil, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = NotedFiles(cancelled(t), home.Store())
	require.ErrorIs(t, err, context.Canceled)
}

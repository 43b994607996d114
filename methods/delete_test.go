package methods

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
	"session-sidecar/rpc"
)

const deleteMethod = "state_db.delete_cli_session"

// filled is a home with a session x, what delegates and routes go with it, and another session.
func filled(t *testing.T, more ...string) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(append([]string{
		fixtures.LegacySchema,
		`INSERT INTO sessions (id, source, started_at, title) VALUES ('x', 'cli', 1, 'a private title'), ('y', 'cli', 1, 'another')`,
		"INSERT INTO messages (session_id, role, content, timestamp) VALUES ('x', 'user', 'a private message', 1)",
		`INSERT INTO gateway_routing VALUES ('', 'k', '{"session_id":"x"}', 1)`,
	}, more...)...)
	home.Artifacts("x", "y")
	return home
}

func paramsFor(home *sidecartest.Home, id, more string) string {
	return fmt.Sprintf(`{"profile_home":%q,"session_id":%q%s}`, home.Path, id, more)
}

// deleted makes a delete and checks its result against the method's own schema.
func deleted(t *testing.T, r *Registry, params string) map[string]any {
	t.Helper()
	text, err := call(t, r, deleteMethod, params)
	require.NoError(t, err)
	var result map[string]any
	require.NoError(t, json.Unmarshal(text, &result))
	schema, err := r.methods[deleteMethod].result().Resolve(nil)
	require.NoError(t, err)
	require.NoError(t, schema.Validate(result))
	return result
}

func TestADelete(t *testing.T) {
	r, log := introduced(t)
	home := filled(t)
	result := deleted(t, r, paramsFor(home, "x", `,"later":{"Session":1}`))
	assert.NotEmpty(t, result["left_behind"].([]any)[0].(map[string]any)["why"])
	assert.Regexp(t, "^[0-9a-f]{32}$", result["receipt"])
	delete(result, "left_behind")
	delete(result, "receipt")
	assert.Equal(t, map[string]any{
		"ok": true, "deleted_ids": []any{"x"}, "path": "legacy", "existed": true,
		"cleanup": map[string]any{"complete": true, "pending": []any{}, "unreadable": []any{}},
		"erase":   map[string]any{"pages": "this_delete", "indexes": "not_asked", "wal": "not_asked"},
	}, result, "what is absent is left out")
	assert.Contains(t, log.String(), "session=x")
	assert.NotContains(t, log.String(), "private")

	result = deleted(t, r, paramsFor(home, "x", ""))
	assert.Equal(t, false, result["existed"])
	assert.NotContains(t, result, "receipt")
	assert.Equal(t, true, result["ok"])
}

func TestADeleteThatLeavesItsFile(t *testing.T) {
	r, _ := introduced(t)
	home := filled(t)
	require.NoError(t, os.Remove(filepath.Join(home.Path, "sessions", "x.json")))
	home.Write("sessions/x.json/file", "")
	result := deleted(t, r, paramsFor(home, "x", ""))
	assert.Equal(t, false, result["ok"])
	assert.Equal(t, "cleanup_pending", result["reason"])
	assert.NotContains(t, result, "refused")
	assert.Equal(t, []any{"x"}, result["deleted_ids"])
	assert.Equal(t, map[string]any{
		"complete": false, "pending": []any{map[string]any{"session_id": "x", "cause": "artifact_stuck"}}, "unreadable": []any{},
	}, result["cleanup"])

	result = deleted(t, r, paramsFor(home, "y", ""))
	assert.Equal(t, true, result["ok"], "an older delete's leftovers never make a new one fail")
	assert.Equal(t, false, result["cleanup"].(map[string]any)["complete"])
}

func TestADeleteThatIsRefused(t *testing.T) {
	r, log := introduced(t)
	home := filled(t, "INSERT INTO compression_locks VALUES ('x', 'h', 1, 9999999999)")
	result := deleted(t, r, paramsFor(home, "x", ""))
	assert.NotEmpty(t, result["detail"])
	delete(result, "detail")
	assert.Equal(t, map[string]any{
		"ok": false, "refused": "active_turn", "reason": "active_turn", "path": "legacy",
		"guard": map[string]any{"session_id": "x", "kind": "compression_lock", "holder": "h", "expires_at": 9999999999.0},
	}, result)
	assert.Contains(t, log.String(), "reason=active_turn")

	empty := sidecartest.NewHome(t)
	result = deleted(t, r, paramsFor(empty, "x", ""))
	assert.Equal(t, "store_missing", result["reason"])
	assert.NotContains(t, result, "refused")
	assert.NotContains(t, result, "path")
}

// Only the literal true widens a delete.
func TestFlagsOfADelete(t *testing.T) {
	chain := `INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason) VALUES
		('a', 'cli', NULL, 1, 2, 'compression'), ('b', 'cli', 'a', 2, 3, 'compression'), ('c', 'cli', 'b', 3, NULL, NULL)`
	for more, want := range map[string][]any{
		``: {"b"}, `,"include_compression_lineage":"true"`: {"b"}, `,"whole_conversation":1`: {"b"},
		`,"include_compression_lineage":true`: {"c", "b"}, `,"whole_conversation":true`: {"c", "b", "a"},
		`,"purge_index":false`: {"b"}, `,"purge_index":"true"`: {"b"},
	} {
		r, _ := introduced(t)
		assert.Equal(t, want, deleted(t, r, paramsFor(filled(t, chain), "b", more))["deleted_ids"], more)
	}
}

// An option that cannot be meant as it stands is never ignored.
func TestOptionsThatAreRefused(t *testing.T) {
	r, _ := introduced(t)
	home := filled(t)
	for _, more := range []string{
		`,"expected_ids":null`, `,"expected_ids":[7]`, `,"Expected_IDs":["x"]`, `,"Purge_Index":true`, `,"Purge_Index":false`,
		`,"keep_days":null`, `,"keep_days":0`, `,"keep_days":91`, `,"keep_days":-1`, `,"keep_days":1.5`, `,"keep_days":"30"`,
		`,"keep_days":true`, `,"keep_days":1e30`, `,"KEEP_DAYS":30`,
	} {
		_, err := call(t, r, deleteMethod, paramsFor(home, "x", more))
		requireCode(t, err, rpc.CodeInvalidParams)
	}
	assert.Len(t, home.Query("SELECT id FROM sessions"), 2)
	assert.NoDirExists(t, filepath.Join(home.Path, "trash"))
}

func TestADeleteThatIsCancelled(t *testing.T) {
	r, _ := introduced(t)
	home := filled(t)
	endpoint, refusal := r.Route(deleteMethod)
	require.Nil(t, refusal)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := endpoint.Call(ctx, json.RawMessage(paramsFor(home, "x", "")))
	require.ErrorIs(t, err, context.Canceled, "an error and no result")
	assert.Len(t, home.Query("SELECT id FROM sessions"), 2)
	assert.Len(t, home.Sessions(), 8)
}

// A store that an older Agent left behind is taken on the legacy path only where the host says which Agent it is.
func TestTheAgentDecidesThePath(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)`)
	r, _ := introduced(t)
	result := deleted(t, r, paramsFor(home, "x", ""))
	assert.Equal(t, "canonical", result["path"])

	home = sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)`)
	r, _ = newRegistry()
	dir := t.TempDir()
	_, err := call(t, r, "runtime.handshake", `{"rpc_version":1,"agent_dir":"`+dir+`"}`)
	require.NoError(t, err)
	result = deleted(t, r, paramsFor(home, "x", ""))
	assert.Equal(t, "legacy", result["path"])
	assert.Equal(t, true, result["ok"])

	require.NoError(t, os.Remove(dir))
	result = deleted(t, r, paramsFor(home, "x", ""))
	assert.Equal(t, "io_error", result["reason"], "a folder that cannot be listed any more is no old Agent")
}

func TestStatus(t *testing.T) {
	r, _ := introduced(t)
	home := filled(t)
	home.Write("sessions/.cleanup_manifest_1.json", `["y"]`)
	home.Write("sessions/.cleanup_manifest_2.json", `broken`)
	deleted(t, r, paramsFor(home, "x", ""))
	deleted(t, r, paramsFor(sidecartest.NewHome(t), "x", ""))
	frames, exitCode := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"runtime.status"}`)
	assert.Zero(t, exitCode)
	require.Len(t, frames, 1)
	var reply struct{ Result statusResult }
	require.NoError(t, json.Unmarshal([]byte(frames[0]), &reply))
	got := reply.Result
	assert.Positive(t, got.UptimeSeconds)
	assert.Equal(t, callsInfo{1, rpc.DefaultMaxCalls}, got.Calls)
	assert.Equal(t, []homeStatus{{home.Path, []pendingInfo{{"y", "session_live"}}, []string{".cleanup_manifest_2.json"}}}, got.Homes)
	assert.Equal(t, countersInfo{Deletes: 1, Refused: 1, SessionsGone: 1, CleanupRuns: 2}, got.Counters)
}

package methods

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/rpc"
)

func requireCondition(t *testing.T, err error, want Reason) {
	t.Helper()
	failure := requireCode(t, err, rpc.CodeApplication)
	require.Equal(t, rpc.Condition{Condition: string(want)}, failure.Data)
}

func TestTheGate(t *testing.T) {
	r, _ := newRegistry()
	for _, name := range []string{"state_db.delete_cli_session", "state_db.nothing", "nothing", "", "runtime", "rpc", "Rpc.methods"} {
		_, err := call(t, r, name, "{}")
		requireCondition(t, err, ConditionHandshakeRequired)
	}
	for _, name := range []string{"rpc.nothing", "runtime.nothing"} {
		_, err := call(t, r, name, "{}")
		requireCode(t, err, rpc.CodeMethodNotFound)
	}
	_, err := call(t, r, "rpc.methods", "{}")
	require.NoError(t, err)

	_, err = call(t, r, "runtime.handshake", `{"rpc_version":1}`)
	require.NoError(t, err)
	for _, name := range []string{"state_db.nothing", "nothing", ""} {
		_, err := call(t, r, name, "{}")
		requireCode(t, err, rpc.CodeMethodNotFound)
	}
	_, err = call(t, r, "state_db.delete_cli_session", "{}")
	requireCode(t, err, rpc.CodeInvalidParams)
}

func TestAHandshakeThatFailsOpensNothing(t *testing.T) {
	r, _ := newRegistry()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, params := range []string{
		`{}`, `{"rpc_version":null}`, `{"rpc_version":"1"}`, `{"rpc_version":1.5}`, `{"rpc_version":1,"other":1}`, `{"rpc_version":1,"RPC_version":1}`,
		`{"rpc_version":1,"agent_dir":5}`, `{"rpc_version":1,"agent_dir":"/nowhere"}`, `{"rpc_version":1,"agent_dir":"` + file + `"}`,
		`{"rpc_version":1,"base_home":null}`, `{"rpc_version":1,"watch":null}`, `{"rpc_version":1,"watch":"/h"}`, `{"rpc_version":1,"watch":[""]}`,
		`{"rpc_version":1,"watch":["/h",null]}`, `{"rpc_version":1,"watch":["/h","a\u0000b"]}`, `{"rpc_version":1,"watch":["/h"],"agent_dir":"/nowhere"}`,
	} {
		_, err := call(t, r, "runtime.handshake", params)
		requireCode(t, err, rpc.CodeInvalidParams)
	}
	_, err := call(t, r, "state_db.delete_cli_session", "{}")
	requireCondition(t, err, ConditionHandshakeRequired)
	frames, _ := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"runtime.status"}`)
	assert.Contains(t, frames[0], `"watched":[]`)
}

func TestTheSameHandshakeAgain(t *testing.T) {
	r, _ := newRegistry()
	dir := t.TempDir()
	params := `{"rpc_version":1,"agent_dir":"` + dir + `","base_home":"/b","watch":["` + dir + `/x","/y"]}`
	defer r.Close()
	for range 2 {
		text, err := call(t, r, "runtime.handshake", params)
		require.NoError(t, err)
		var result handshakeResult
		require.NoError(t, json.Unmarshal(text, &result))
		assert.Equal(t, 1, result.RPCVersion)
		assert.Equal(t, os.Getpid(), result.PID)
		assert.True(t, result.FTS5)
		assert.NotEmpty(t, result.Version)
		assert.Regexp(t, `^3\.`, result.SQLiteVersion)
		assert.Equal(t, capabilities, result.Capabilities)
		assert.Equal(t, agentInfo{Known: true, Dir: dir, CanRetire: new(false)}, result.Agent)
	}
	for _, other := range []string{
		`{"rpc_version":1}`, `{"rpc_version":1,"agent_dir":"` + dir + `"}`, `{"rpc_version":1,"agent_dir":"/","base_home":"/b"}`,
		`{"rpc_version":1,"agent_dir":"` + dir + `","base_home":"/c","watch":["` + dir + `/x","/y"]}`,
		`{"rpc_version":1,"agent_dir":"` + dir + `","base_home":"/b"}`,
		`{"rpc_version":1,"agent_dir":"` + dir + `","base_home":"/b","watch":["` + dir + `/x"]}`,
		`{"rpc_version":1,"agent_dir":"` + dir + `","base_home":"/b","watch":["` + dir + `/x","/y","/z"]}`,
	} {
		_, err := call(t, r, "runtime.handshake", other)
		requireCondition(t, err, ConditionAlreadyHandshaken)
	}
	_, err := call(t, r, "runtime.handshake", params)
	require.NoError(t, err, "the first one still holds")
}

// The Agent's folder may have gone, or changed, since: the same handshake is the same. A different one is refused as that,
// whatever its folder is.
func TestTheSameHandshakeAgainWhenTheAgentIsGone(t *testing.T) {
	r, _ := newRegistry()
	dir := filepath.Join(t.TempDir(), "agent")
	require.NoError(t, os.Mkdir(dir, 0o700))
	params := `{"rpc_version":1,"agent_dir":"` + dir + `"}`
	first, err := call(t, r, "runtime.handshake", params)
	require.NoError(t, err)
	require.NoError(t, os.Remove(dir))
	again, err := call(t, r, "runtime.handshake", params)
	require.NoError(t, err)
	assert.JSONEq(t, string(first), string(again))
	_, err = call(t, r, "runtime.handshake", `{"rpc_version":1,"agent_dir":"`+dir+`x"}`)
	requireCondition(t, err, ConditionAlreadyHandshaken)
}

func TestAHostOfAnotherVersion(t *testing.T) {
	for _, version := range []string{"0", "2", "-1", "99"} {
		r, _ := newRegistry()
		// Such a host may send fields that we do not know.
		frames, exitCode := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"runtime.handshake","params":{"rpc_version":`+version+`,"later":{}}}`)
		assert.Equal(t, exitVersionMismatch, exitCode)
		require.Len(t, frames, 1)
		var reply struct {
			Error struct {
				Code int
				Data json.RawMessage
			}
		}
		require.NoError(t, json.Unmarshal([]byte(frames[0]), &reply))
		assert.Equal(t, rpc.CodeApplication, reply.Error.Code)
		assert.JSONEq(t, `{"condition":"sidecar_rpc_version_mismatch","sidecar_rpc_version":1,"host_rpc_version":`+version+`}`, string(reply.Error.Data))
	}
	r, _ := newRegistry()
	_, exitCode := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"runtime.handshake","params":{"rpc_version":null}}`)
	assert.Zero(t, exitCode, "no version at all is a mistake of this call and no other version")
}

func TestShutdown(t *testing.T) {
	for params, want := range map[string]int{`{}`: 0, `{"exit_code":0}`: 0, `{"exit_code":7}`: 7, `{"exit_code":255}`: 255} {
		r, _ := newRegistry()
		frames, exitCode := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"runtime.shutdown","params":`+params+`}`)
		assert.Equal(t, want, exitCode)
		assert.Equal(t, []string{`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`}, frames)
	}
	for _, params := range []string{`{"exit_code":256}`, `{"exit_code":-1}`, `{"exit_code":null}`, `{"exit_code":"7"}`, `{"code":7}`} {
		r, _ := newRegistry()
		frames, exitCode := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"runtime.shutdown","params":`+params+`}`)
		assert.Zero(t, exitCode)
		require.Len(t, frames, 1)
		assert.Contains(t, frames[0], "-32602")
	}
}

func TestCancelOfNothing(t *testing.T) {
	r, _ := newRegistry()
	frames, _ := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"rpc.cancel","params":{"id":"9"}}`, `{"jsonrpc":"2.0","id":2,"method":"rpc.cancel","params":{"id":2}}`)
	assert.Equal(t, []string{
		`{"jsonrpc":"2.0","id":1,"result":{"cancelled":false,"reason":"not_active"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"cancelled":false,"reason":"not_active"}}`,
	}, frames)
}

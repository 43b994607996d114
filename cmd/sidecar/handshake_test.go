package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestWhatNeedsNoHandshake(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	for _, method := range []string{"rpc.methods", "rpc.discover", "runtime.status"} {
		p.Send(ask(`1`, method, `{}`) + "\n")
		require.Nil(t, p.Reply().Error, method)
	}
	for _, method := range []string{"rpc.nothing", "runtime.nothing", "rpc.", "runtime."} {
		p.Send(ask(`1`, method, `{}`) + "\n")
		requireError(t, p.Reply(), `1`, -32601, "")
	}
}

func TestEveryOtherMethodNeedsAHandshake(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	home := storeWith(t, fixtures.LegacySchema)
	for _, line := range []string{
		deletion(t, `1`, home, "s1"), ask(`1`, "state_db.nothing", `{}`), ask(`1`, "nothing", `{}`), ask(`1`, "rpc", `{}`),
		ask(`1`, "Rpc.methods", `{}`), ask(`1`, "runtimes.status", `{}`),
	} {
		p.Send(line + "\n")
		requireError(t, p.Reply(), `1`, -32000, "handshake_required")
	}
	require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
	p.Handshake()
	p.Send(ask(`1`, "state_db.nothing", `{}`) + "\n")
	requireError(t, p.Reply(), `1`, -32601, "")
	require.True(t, p.Delete(home, "s1").OK)
}

func TestAHandshakeIsFinishedBeforeTheNextLine(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Send(handshake + "\n" + deletion(t, `1`, sidecartest.NewHome(t), "s1") + "\n")
	require.Equal(t, `"handshake"`, string(p.Reply().ID))
	reply := p.Reply()
	require.Nil(t, reply.Error)
	require.Contains(t, string(reply.Result), "store_missing")
}

func TestTheAnswerToAHandshake(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Send(handshake + "\n")
	first := p.Reply()
	require.Nil(t, first.Error)
	var result struct {
		RPCVersion    int    `json:"rpc_version"`
		Version       string `json:"version"`
		PID           int    `json:"pid"`
		SQLiteVersion string `json:"sqlite_version"`
		FTS5          bool   `json:"fts5"`
		Capabilities  []string
		Agent         struct{ Known *bool }
	}
	require.NoError(t, json.Unmarshal(first.Result, &result))
	require.Equal(t, 1, result.RPCVersion)
	require.NotEmpty(t, result.Version)
	require.Equal(t, p.Cmd.Process.Pid, result.PID)
	require.Regexp(t, `^3\.\d+\.\d+$`, result.SQLiteVersion)
	require.True(t, result.FTS5)
	require.NotNil(t, result.Capabilities)
	require.NotNil(t, result.Agent.Known)
	require.False(t, *result.Agent.Known)

	// The same one again is answered again; a different one is not, and changes nothing.
	p.Send(handshake + "\n")
	require.Equal(t, string(first.Result), string(p.Reply().Result))
	for _, field := range []string{"agent_dir", "base_home"} {
		p.Send(ask(`1`, "runtime.handshake", fmt.Sprintf(`{"rpc_version":1,%q:%q}`, field, filepath.ToSlash(t.TempDir()))) + "\n")
		requireError(t, p.Reply(), `1`, -32000, "already_handshaken")
	}
	p.Send(handshake + "\n")
	require.Equal(t, string(first.Result), string(p.Reply().Result))
}

func TestAHostOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, params := range []string{`{"rpc_version":2}`, `{"rpc_version":0}`, `{"rpc_version":7,"new":{"field":1},"agent_dir":5}`} {
		p := sidecartest.Start(t, sidecartest.Plain)
		home := storeWith(t, fixtures.LegacySchema)
		// What was sent along with it must not run.
		p.Send(ask(`1`, "runtime.handshake", params) + "\n" + deletion(t, `2`, home, "s1") + "\n")
		reply := p.Reply()
		requireError(t, reply, `1`, -32000, "sidecar_rpc_version_mismatch")
		var sent struct {
			Version int `json:"rpc_version"`
		}
		require.NoError(t, json.Unmarshal([]byte(params), &sent))
		require.JSONEq(t, fmt.Sprintf(
			`{"condition":"sidecar_rpc_version_mismatch","sidecar_rpc_version":1,"host_rpc_version":%d}`, sent.Version),
			string(reply.Error.Data))
		require.Equal(t, 3, p.Wait())
		require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
	}
}

func TestAHandshakeThatIsWrong(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, params := range []string{
		`{}`, `{"rpc_version":null}`, `{"rpc_version":"1"}`, `{"rpc_version":1.5}`, `{"rpc_version":true}`, `{"rpc_version":[1]}`,
		`{"RPC_version":1}`, `{"rpc_version":1,"unknown":1}`, `{"rpc_version":1,"Agent_dir":"/"}`, `{"rpc_version":1,"agent_dir":1}`,
		fmt.Sprintf(`{"rpc_version":1,"agent_dir":%q}`, filepath.ToSlash(file)),
		fmt.Sprintf(`{"rpc_version":1,"agent_dir":%q}`, filepath.ToSlash(file)+".missing"),
	} {
		p.Send(ask(`1`, "runtime.handshake", params) + "\n")
		requireError(t, p.Reply(), `1`, -32602, "")
	}
	p.Send(`{"jsonrpc":"2.0","id":1,"method":"runtime.handshake"}` + "\n")
	requireError(t, p.Reply(), `1`, -32602, "")

	// None of them counts, and a good one still may come.
	p.Send(ask(`1`, "state_db.nothing", `{}`) + "\n")
	requireError(t, p.Reply(), `1`, -32000, "handshake_required")
	p.Handshake(fmt.Sprintf(`{"rpc_version":1,"agent_dir":%q}`, filepath.ToSlash(filepath.Dir(file))))
}

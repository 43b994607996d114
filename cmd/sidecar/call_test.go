package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// outcome is what a command line gave.
type outcome struct {
	stdout, stderr string
	code           int
}

func runLine(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	code := exitCodeOf(t, cmd.Run())
	sidecartest.RequireSilent(t, stderr.String())
	return outcome{stdout.String(), stderr.String(), code}
}

// requireResult looks at a call that gave a result: one line of JSON and not a word beside it.
func (o outcome) requireResult(t *testing.T) string {
	t.Helper()
	require.Equal(t, 0, o.code, o.stderr)
	require.Empty(t, o.stderr)
	require.Equal(t, 1, strings.Count(o.stdout, "\n"))
	require.True(t, json.Valid([]byte(o.stdout)), o.stdout)
	return strings.TrimSuffix(o.stdout, "\n")
}

// requireErrorAnswer looks at a call that gave an error answer: it is on standard error.
func (o outcome) requireErrorAnswer(t *testing.T, code int) {
	t.Helper()
	require.Equal(t, 1, o.code)
	require.Empty(t, o.stdout)
	var failure struct{ Code int }
	require.NoError(t, json.Unmarshal([]byte(o.stderr), &failure), o.stderr)
	require.Equal(t, code, failure.Code)
}

func TestCallPrintsTheResult(t *testing.T) {
	t.Parallel()
	require.Contains(t, runLine(t, "", "call", "rpc.methods").requireResult(t), `"rpc.methods"`)
	require.Contains(t, runLine(t, "", "call", "rpc.methods", `{}`).requireResult(t), `"rpc.methods"`)
	require.Contains(t, runLine(t, "", "call", "rpc.discover").requireResult(t), `"openrpc"`)
	require.Equal(t, `{"ok":true}`, runLine(t, "", "call", "runtime.shutdown", `{"exit_code":7}`).requireResult(t))
}

func TestCallMakesTheHandshake(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	params, err := json.MarshalIndent(map[string]string{"profile_home": home.Path, "session_id": "s1"}, "", "\t")
	require.NoError(t, err)
	result := runLine(t, "", "call", "state_db.delete_cli_session", string(params)).requireResult(t)
	require.Contains(t, result, `"deleted_ids":["s1"]`)
	require.Empty(t, home.Query(`SELECT id FROM sessions`))

	// A refusal is a result (contract 1.10).
	result = runLine(t, string(params)+"\n", "call", "state_db.delete_cli_session", "-").requireResult(t)
	require.Contains(t, result, `"existed":false`)
	agent := t.TempDir()
	result = runLine(t, "", "call", "--agent-dir", agent, "--base-home", home.Path, "state_db.delete_cli_session",
		`{"profile_home":"/no/such/home","session_id":"s1"}`).requireResult(t)
	require.Contains(t, result, `"reason":"store_missing"`)
}

func TestCallPrintsAnErrorAnswerOnStandardError(t *testing.T) {
	t.Parallel()
	runLine(t, "", "call", "rpc.nothing").requireErrorAnswer(t, -32601)
	runLine(t, "", "call", "nothing").requireErrorAnswer(t, -32601)
	runLine(t, "", "call", "rpc.methods", `{"x":1}`).requireErrorAnswer(t, -32602)
	runLine(t, "", "call", "state_db.delete_cli_session").requireErrorAnswer(t, -32602)
	runLine(t, "", "call", "rpc.methods", `{"x":1,"x":1}`).requireErrorAnswer(t, -32600)
	runLine(t, "", "call", "rpc.methods", `{"x":"\ud800"}`).requireErrorAnswer(t, -32700)
	runLine(t, "", "call", "runtime.handshake", `{"rpc_version":2}`).requireErrorAnswer(t, -32000)
	missing := filepath.Join(t.TempDir(), "missing")
	runLine(t, "", "call", "--agent-dir", missing, "state_db.delete_cli_session", `{"profile_home":"/x","session_id":"s"}`).
		requireErrorAnswer(t, -32602)
}

func TestACommandLineThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"nothing"},
		{"--nothing"},
		{"call"},
		{"call", "rpc.methods", "{}", "{}"},
		{"call", "rpc.methods", "no JSON"},
		{"call", "rpc.methods", "[]"},
		{"call", "rpc.methods", "1"},
		{"call", "rpc.methods", ""},
		{"call", "rpc.methods", "{}{}"},
		{"call", "rpc.methods", "-"},
		{"call", "--nothing", "rpc.methods"},
		{"call", "rpc.methods", "--agent-dir"},
		{"version", "nothing"},
		{"version", "--nothing"},
	} {
		o := runLine(t, "", args...)
		require.Equal(t, 2, o.code, "%q: %s", args, o.stderr)
		require.Empty(t, o.stdout, "%q", args)
		require.Regexp(t, `^sidecar: .*; see 'sidecar --help'\n$`, o.stderr, "%q", args)
	}
}

func TestTheProgramExplainsItself(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"-h"}, {"help"}} {
		o := runLine(t, "", args...)
		require.Equal(t, 0, o.code)
		require.Empty(t, o.stderr)
		for _, word := range []string{"SIDECAR_MAX_CALLS", "sidecar call rpc.methods", "version", "demo"} {
			require.Contains(t, o.stdout, word)
		}
	}
	o := runLine(t, "", "call", "--help")
	require.Equal(t, 0, o.code)
	require.Contains(t, o.stdout, "Exit status: 0 for a result, 1 for an error answer")

	o = runLine(t, "", "version")
	require.Equal(t, 0, o.code)
	require.Regexp(t, `^sidecar \S+ \(SQLite 3\.\d+\.\d+, go\S+ \w+/\w+\)\n$`, o.stdout)
	o = runLine(t, "", "--version")
	require.Equal(t, 0, o.code)
	require.Regexp(t, `^sidecar \S+\n$`, o.stdout)
}

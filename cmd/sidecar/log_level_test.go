package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// levelsOf are the levels of the lines that a host's sidecar logs, which is asked for one thing.
func levelsOf(t *testing.T, environment string, args ...string) map[string]bool {
	t.Helper()
	p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Env("SIDECAR_LOG_LEVEL="+environment), func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args, args...)
	})
	p.Handshake()
	p.CloseStdin()
	require.Zero(t, p.Wait(), p.Stderr())
	levels := map[string]bool{}
	for text := range strings.Lines(p.Stderr()) {
		var entry struct{ Level string }
		require.NoError(t, json.Unmarshal([]byte(text), &entry), text)
		levels[entry.Level] = true
	}
	return levels
}

func TestHowMuchAHostsSidecarLogs(t *testing.T) {
	t.Parallel()
	info, debug, nothing := map[string]bool{"INFO": true}, map[string]bool{"INFO": true, "DEBUG": true}, map[string]bool{}
	assert.Equal(t, info, levelsOf(t, ""))
	assert.Equal(t, debug, levelsOf(t, "debug"))
	assert.Equal(t, nothing, levelsOf(t, "warn"))
	assert.Equal(t, debug, levelsOf(t, "", "--log-level", "debug"))
	assert.Equal(t, nothing, levelsOf(t, "debug", "--log-level=error"), "the flag wins")
	assert.Equal(t, info, levelsOf(t, "nonsense", "--log-level=info"), "the flag wins")
}

func TestHowMuchAPersonsCommandLogs(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	run := func(environment string, args ...string) outcome {
		t.Helper()
		var stdout, stderr strings.Builder
		cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain), append([]string{"list", "--home", home.Path}, args...)...)
		cmd.Env = append(os.Environ(), "SIDECAR_LOG_LEVEL="+environment)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		code := exitCodeOf(t, cmd.Run())
		sidecartest.RequireSilent(t, stderr.String())
		return outcome{stdout.String(), stderr.String(), code}
	}
	quiet := run("")
	assert.Zero(t, quiet.code)
	assert.Empty(t, quiet.stderr)
	for _, talkative := range []outcome{run("debug"), run("", "--log-level", "debug"), run("error", "--log-level", "debug")} {
		assert.Zero(t, talkative.code)
		assert.Equal(t, quiet.stdout, talkative.stdout)
		assert.Contains(t, talkative.stderr, `"msg":"call","method":"state_db.list_conversations"`)
	}
}

// A wrong word ends the program with one line, before it has done anything.
func TestALevelThatIsNone(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"loud", "INFO", "info ", "0", "-4", "warning", strings.Repeat("x", 5000)} {
		p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Env("SIDECAR_LOG_LEVEL="+word))
		require.Equal(t, 2, p.Wait(), word)
		require.Regexp(t, `^sidecar: SIDECAR_LOG_LEVEL: it is debug, info, warn or error, not ".{1,80}"; see 'sidecar --help'\n$`, p.Stderr())
		_, wrote := p.TryLine(0)
		require.False(t, wrote, word)
		for _, args := range [][]string{{"--log-level", word}, {"list", "--log-level=" + word}} {
			o := runLine(t, "", args...)
			require.Equal(t, 2, o.code, word)
			require.Empty(t, o.stdout)
			require.Regexp(t, `^sidecar: invalid argument ".*" for "--log-level" flag: it is debug, info, warn or error, not ".{1,80}"; see .*\n$`, o.stderr)
		}
	}
}

// What a host sends may be long, and no line of the log is longer for it.
func TestALineOfACallIsShort(t *testing.T) {
	t.Parallel()
	p := sidecartest.Start(t, sidecartest.Plain)
	long := strings.Repeat("x", 1<<16)
	p.Request(long, "rpc."+long, map[string]any{})
	require.NotNil(t, p.Reply().Error)
	p.CloseStdin()
	require.Zero(t, p.Wait())
	require.Contains(t, p.Stderr(), `"msg":"call","method":"rpc.xxx`)
	for text := range strings.Lines(p.Stderr()) {
		require.Less(t, len(text), 400)
	}
}

// TestWhereADeleteWaited: a delete that was cancelled while another held the home tells of that wait and of nothing else; one that
// another kept from the store tells so.
func TestWhereADeleteWaited(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	free := holdLock(t, home)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	p.Send(deletion(t, `1`, home, "s1") + "\n")
	awaitInFlight(t, 2, func() sidecartest.Reply {
		p.Send(ask(`2`, "runtime.status", `{}`) + "\n")
		return p.Reply()
	})
	p.Send(ask(`3`, "rpc.cancel", `{"id":1}`) + "\n")
	for range 2 {
		p.Reply()
	}
	free()
	sidecartest.HoldWriteLock(t, home.Store(), time.Second)
	require.True(t, p.Delete(home, "s1").OK)
	p.CloseStdin()
	require.Zero(t, p.Wait())
	lines := deletesIn(t, p.Stderr())
	require.Len(t, lines, 2)
	cancelled, done := map[string]any{}, map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &cancelled))
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &done))
	assert.Equal(t, "cancelled", cancelled["reason"])
	assert.Contains(t, cancelled, "home_lock_wait_ms") // a clock of Windows ticks slower than this one was cancelled
	for _, part := range []string{"write_lock_wait_ms", "decision_ms", "transaction_ms", "cleanup_ms"} {
		assert.Zero(t, cancelled[part], part)
	}
	assert.Greater(t, done["write_lock_wait_ms"], done["home_lock_wait_ms"])
}

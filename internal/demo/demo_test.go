package demo

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) { sidecartest.Main(m) }

// command is the demo of the real program, with a temporary folder of its own.
func command(t *testing.T, temporary string, environment ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), sidecartest.Binary(t, sidecartest.Plain), "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary, "TMP="+temporary, "TEMP="+temporary)
	cmd.Env = append(cmd.Env, environment...)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// requireFailure checks that the demo ended with one clear line, and left nothing behind.
func requireFailure(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer, temporary, reason string) {
	t.Helper()
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), "it said: %s", stderr)
	assert.Contains(t, stderr.String(), reason)
	assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), "more than one line: %s", stderr)
	requireEmpty(t, temporary)
}

func requireEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestTheDemo(t *testing.T) {
	temporary := t.TempDir()
	cmd, stdout, stderr := command(t, temporary)
	require.NoError(t, cmd.Run(), "it said: %s", stderr)
	assert.Empty(t, stderr.String())
	requireEmpty(t, temporary)

	shown := stdout.String()
	assert.NotContains(t, shown, "\x1b", "colour is for terminals")
	for line := range strings.Lines(shown) {
		assert.LessOrEqual(t, cells(strings.TrimSuffix(line, "\n")), pageWidth, line)
	}
	before, rest, found := strings.Cut(shown, "2. The sidecar starts")
	require.True(t, found)
	_, left, found := strings.Cut(rest, "6. What is left")
	require.True(t, found)
	for _, c := range story {
		assert.Contains(t, before, c.id)
		assert.Contains(t, before, c.title)
		if c.goes {
			assert.NotContains(t, left, c.id)
			assert.Contains(t, rest, c.id, "the answer names it")
		}
	}
	assert.Contains(t, left, keptBranch)
	assert.Contains(t, left, busyRoot)
	assert.Contains(t, rest, "guard   turn_lease, protects "+busyRoot)
	assert.Contains(t, rest, `"refused":"active_turn"`)
	assert.Contains(t, rest, "holder  pid=")
	assert.Contains(t, rest, `"path":"canonical"`)
	assert.Contains(t, rest, `"final_response":"`+finalAnswer+`"`)
	assert.Contains(t, rest, `"code":"session_deleted"`)
	assert.NotContains(t, shown, askedInWords)
}

func TestASidecarThatDoesNotStartEndsTheDemo(t *testing.T) {
	temporary := t.TempDir()
	cmd, _, stderr := command(t, temporary, "SIDECAR_MAX_CALLS=none")
	require.Error(t, cmd.Run())
	requireFailure(t, cmd, stderr, temporary, "SIDECAR_MAX_CALLS must be a whole number")
}

func TestAMissingTemporaryFolderEndsTheDemo(t *testing.T) {
	temporary := t.TempDir()
	cmd, _, stderr := command(t, temporary+"/missing")
	require.Error(t, cmd.Run())
	requireFailure(t, cmd, stderr, temporary, "make a temporary folder")
}

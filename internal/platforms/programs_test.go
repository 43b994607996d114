//go:build platforms

package platforms

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) { sidecartest.Main(m) }

// TestPrograms runs each program that npm/scripts/build.mjs has built, by itself or under a stand-in for its system, and lets it
// delete a session of a real store on either path. That of this very machine must be there.
func TestPrograms(t *testing.T) {
	built, err := filepath.Abs(filepath.Join(root, "build", "npm", "programs"))
	require.NoError(t, err)
	for _, p := range table(t) {
		native := p.GOOS == runtime.GOOS && p.GOARCH == runtime.GOARCH
		program := filepath.Join(built, p.Name, filepath.FromSlash(p.Binary))
		if _, err := os.Stat(program); err != nil && !native {
			continue
		}
		words := append(slices.Clone(p.Tried), program)
		if native {
			words = []string{program}
		}
		t.Run(p.Name, func(t *testing.T) {
			env := environment(t, words)
			start := func(t *testing.T) *sidecartest.Process {
				return sidecartest.StartCommand(t, exec.Command(words[0], words[1:]...), sidecartest.Env(env...))
			}
			t.Run("legacy", func(t *testing.T) { deleteOne(t, p, fixtures.LegacySchema, "legacy", start(t)) })
			t.Run("canonical", func(t *testing.T) { deleteOne(t, p, fixtures.RuntimeSchema, "canonical", start(t)) })
		})
	}
}

// environment gives what a stand-in needs in its environment, or skips the test where there is no such stand-in.
func environment(t *testing.T, words []string) []string {
	t.Helper()
	if len(words) == 1 {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		t.Skipf("%s is not installed", words[0])
	}
	if words[0] == "wine" {
		return wineEnvironment(t)
	}
	return nil
}

func deleteOne(t *testing.T, p Platform, schema, path string, process *sidecartest.Process) {
	home := sidecartest.NewHome(t)
	home.Create(schema,
		`INSERT INTO sessions(id, source, started_at) VALUES ('gone', 'cli', 1), ('stays', 'cli', 2)`,
		`INSERT INTO messages(session_id, role, content, timestamp) VALUES ('gone', 'user', 'a word', 1), ('stays', 'user', 'another', 2)`)
	home.Artifacts("gone", "stays")

	process.Handshake()
	result := process.Delete(home, "gone", map[string]any{"profile_home": asNamedThere(p, home.Path)})
	process.CloseStdin()
	require.Zero(t, process.Wait(), process.Stderr())

	assert.Equal(t, path, result.Path)
	assert.Equal(t, []string{"gone"}, result.DeletedIDs)
	assert.Equal(t, []string{"stays"}, home.Query(`SELECT id FROM sessions`))
	assert.Equal(t, []string{"another"}, home.Query(`SELECT content FROM messages`))
	home.RequireSound()

	require.NotNil(t, result.Cleanup)
	if asNamedThere(p, home.Path) != home.Path {
		// Debian's wine does not know how Go removes a file through a handle of its folder, so the files stay, and that is said.
		assert.Equal(t, "cleanup_pending", result.Reason)
		assert.Len(t, home.Manifests(), 1)
		return
	}
	assert.True(t, result.OK, "%+v; log: %s", result, process.Stderr())
	assert.True(t, result.Cleanup.Complete, "%+v", result.Cleanup)
	assert.Empty(t, home.Manifests())
	for _, name := range home.Sessions() {
		assert.NotContains(t, name, "gone")
	}
}

// asNamedThere is the name that a path of ours has in the other system.
func asNamedThere(p Platform, path string) string {
	if p.OS == "win32" && runtime.GOOS != "windows" { // wine's Z: is our root
		return `Z:` + strings.ReplaceAll(path, "/", `\`)
	}
	return path
}

// wineEnvironment makes a Windows of our own below build, once, with the library that Go asks for random numbers, which Debian's
// wine lacks.
func wineEnvironment(t *testing.T) []string {
	t.Helper()
	prefix, err := filepath.Abs(filepath.Join(root, "build", "npm", "wine"))
	require.NoError(t, err)
	env := []string{
		"WINEPREFIX=" + prefix, "WINEARCH=win64", "WINEDEBUG=-all", "DISPLAY=",
		"WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=;bcryptprimitives=n",
	}
	wine := func(program string, args ...string) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), env...)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	library := filepath.Join(prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(library); err != nil {
		require.NoError(t, os.MkdirAll(prefix, 0o700))
		wine("wine", "wineboot", "--init")
		wine("x86_64-w64-mingw32-gcc", "-shared", "-o", library, filepath.Join("testdata", "bcryptprimitives.c"), "-ladvapi32")
	}
	// Its server outlives what it served for a while, and no test leaves a process behind.
	t.Cleanup(func() {
		stop := exec.Command("wineserver", "--kill", "--wait")
		stop.Env = append(os.Environ(), env...)
		_ = stop.Run() // it fails where the server has ended by itself
	})
	return env
}

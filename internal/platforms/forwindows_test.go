//go:build platforms

package platforms

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// forWindows are the packages whose Go tests run for Windows, with those of their tests that do.
var forWindows = []struct{ pkg, run string }{
	{"internal/foldersync", "."},
	{"internal/newfile", "."},
	{"internal/agentjson", "."},
	{"locks", "."},
	{"cleanup", "AsWindowsReadsThem|OneIDInManyManifests|LiveIDs|Dumps|Temporary"},
	{"statedb", "HolderDead|Busy|Begin|Cancel|Commit|Rollback|WithoutAWAL|Purge"},
	{"rpc", "^Test"},
	{"cmd/sidecar", "^Test"}, // the channel, a host that is gone, the end: with the program itself
}

// TestForWindows runs tests that were compiled for Windows: under wine, or on a Windows as they are.
func TestForWindows(t *testing.T) {
	if runtime.GOOS == "windows" {
		for _, p := range forWindows {
			t.Run(p.pkg, func(t *testing.T) {
				runTests(t, p.pkg, os.Environ(), "go", "test", "-v", "-count=1", "-tags=sqlite_fts5", "-run="+p.run, "-skip="+skipped(t, p.pkg), ".")
			})
		}
		return
	}
	for _, tool := range []string{"wine", "x86_64-w64-mingw32-gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	folder := t.TempDir()
	flags := []string{"-buildvcs=false", "-trimpath", "-tags=sqlite_fts5,sqlite_omit_load_extension", "-overlay=" + overlay(t, folder), "-ldflags=-linkmode external -extldflags -static"}
	program := filepath.Join(folder, "sidecar.exe")
	forMingw(t, append(append([]string{"build"}, flags...), "-o", program, "./cmd/sidecar"))
	env := append(append(os.Environ(), wineEnvironment(t)...), "SIDECARTEST_PROGRAM="+`Z:`+strings.ReplaceAll(program, "/", `\`))
	for _, p := range forWindows {
		t.Run(p.pkg, func(t *testing.T) {
			tests := filepath.Join(folder, strings.ReplaceAll(p.pkg, "/", "_")+".test.exe")
			forMingw(t, append(append([]string{"test", "-c"}, flags...), "-o", tests, "./"+p.pkg))
			runTests(t, p.pkg, env, "wine", tests, "-test.v", "-test.run="+p.run, "-test.skip="+skipped(t, p.pkg))
		})
	}
}

// runTests runs a package's tests in its folder and requires that some of them passed and none failed.
func runTests(t *testing.T, pkg string, env []string, words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	cmd.Env = env
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "--- PASS: ")
	t.Logf("%d passed", strings.Count(string(output), "\n--- PASS: "))
}

// skipped is the pattern of a package's tests that windows.tsv lists.
func skipped(t *testing.T, pkg string) string {
	t.Helper()
	text, err := os.ReadFile("windows.tsv")
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), "\t")
		require.Len(t, fields, 3, line)
		if fields[0] == pkg {
			names = append(names, fields[1])
		}
	}
	if names == nil {
		return "^$"
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// forMingw runs the go command for Windows with Debian's compiler.
func forMingw(t *testing.T, args []string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=1", "CC=x86_64-w64-mingw32-gcc", "GOOS=windows", "GOARCH=amd64")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// overlay lets Go's own library remove files under Debian's wine: that has no "POSIX semantics" for it, and says so with a status
// that the library does not take for that. Nothing but what these tests compile has it.
func overlay(t *testing.T, folder string) (path string) {
	t.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	library := filepath.Join(strings.TrimSpace(string(goroot)), "src", "internal", "syscall", "windows", "at_windows.go")
	text, err := os.ReadFile(library)
	require.NoError(t, err)
	const asked, notImplemented = "case STATUS_INVALID_INFO_CLASS,", "case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,"
	require.Equal(t, 1, strings.Count(string(text), asked), "Go's library has changed: look at %s", library)
	changed := filepath.Join(folder, "at_windows.go")
	require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(text), asked, notImplemented, 1)), 0o600))
	encoded, err := json.Marshal(map[string]any{"Replace": map[string]string{library: changed}})
	require.NoError(t, err)
	path = filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(path, encoded, 0o600))
	return path
}

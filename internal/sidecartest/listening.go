package sidecartest

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// RequireSilent checks that a log holds nothing that was said in a conversation of any store of the tests.
func RequireSilent(t testing.TB, log string) {
	t.Helper()
	if found := Overheard(log); len(found) > 0 {
		t.Logf("a log holds what was said in a conversation: %q\n%s", found, log)
		t.Fail() // and not Errorf, which stops a story, where there is one no more
	}
}

// Log is a log for code that runs inside a test: every level of it is checked when the test ends, as that of a sidecar is. also may
// read along.
func Log(t testing.TB, also ...io.Writer) *slog.Logger {
	t.Helper()
	log := &Buffer{}
	t.Cleanup(func() { RequireSilent(t, log.String()) })
	out := io.MultiWriter(append([]io.Writer{log}, also...)...)
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Listening gives a program that runs the sidecar for a story's own commands, in the terminal or the pipes that it is given, and has all
// that it says on a standard error that is no terminal checked when the test ends. Where there is no shell it is the sidecar itself.
func Listening(t testing.TB, program string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		return program
	}
	folder, err := os.MkdirTemp("", "sidecar-said-")
	require.NoError(t, err)
	t.Cleanup(func() {
		defer func() { _ = os.RemoveAll(folder) }()
		logs, err := filepath.Glob(filepath.Join(folder, "said.*"))
		require.NoError(t, err)
		for _, name := range logs {
			log, err := os.ReadFile(name)
			require.NoError(t, err)
			RequireSilent(t, string(log))
		}
	})
	path := filepath.Join(folder, "sidecar")
	script := `#!/bin/sh
[ -t 2 ] && exec '` + program + `' "$@"
said='` + folder + `/said.'$$
'` + program + `' "$@" 2>"$said"
status=$?
cat "$said" >&2
exit $status
`
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}

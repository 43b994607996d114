package sidecartest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Home is an Agent profile's folder of one test.
type Home struct {
	t    testing.TB
	Path string
}

// NewHome makes an empty home with a sessions folder.
func NewHome(t testing.TB) *Home {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return NewHomeAt(t, filepath.Join(path, "home"))
}

// NewHomeAt makes an empty home with a sessions folder at a path.
func NewHomeAt(t testing.TB, path string) *Home {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(path, "sessions"), 0o700))
	Named(path)
	return &Home{t, path}
}

// Write makes a file in the home.
func (h *Home) Write(name, content string) {
	h.t.Helper()
	path := filepath.Join(h.Path, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(h.t, os.WriteFile(path, []byte(content), 0o600))
	Named(name)
	if !strings.HasPrefix(content, "[") { // a manifest holds ids
		Remember(content)
	}
}

// Artifacts makes the four files of each session.
func (h *Home) Artifacts(ids ...string) {
	h.t.Helper()
	for _, id := range ids {
		for _, name := range []string{id + ".json", id + ".jsonl", "session_" + id + ".json", "request_dump_" + id + "_1.json"} {
			h.Write(filepath.Join("sessions", name), "of "+id)
		}
	}
}

// Sessions lists the names in the sessions folder.
func (h *Home) Sessions() []string {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.Path, "sessions"))
	require.NoError(h.t, err)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return slices.Sorted(slices.Values(names))
}

// Manifests lists the finished cleanup manifests.
func (h *Home) Manifests() []string {
	return slices.DeleteFunc(h.Sessions(), func(name string) bool {
		return !strings.HasPrefix(name, ".cleanup_manifest_") || !strings.HasSuffix(name, ".json")
	})
}

package cleanup

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// bareHome is a home without sessions/.
func bareHome(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	require.NoError(t, os.Remove(filepath.Join(home.Path, FolderName)))
	return home
}

// linkSessions makes sessions/ a link.
func linkSessions(t *testing.T, home *sidecartest.Home, target string) {
	t.Helper()
	require.NoError(t, os.Symlink(target, filepath.Join(home.Path, FolderName)))
}

func requireUnusable(t *testing.T, home string) *Error {
	t.Helper()
	folder, err := Open(home)
	require.ErrorIs(t, err, ErrUnusableFolder)
	require.NotErrorIs(t, err, ErrManifest)
	assert.Nil(t, folder)
	var failure *Error
	require.ErrorAs(t, err, &failure)
	require.Error(t, failure.Cause)
	require.ErrorIs(t, err, failure.Cause)
	assert.Equal(t, ErrUnusableFolder.Error()+": "+failure.Name+": "+failure.Cause.Error(), failure.Error())
	return failure
}

func TestMissingFolderIsComplete(t *testing.T) {
	home := bareHome(t)
	asked := false
	report := open(t, home).Process(t.Context(), func(context.Context, []string) (map[string]bool, error) {
		asked = true
		return nil, nil
	})
	assert.Equal(t, Report{}, report)
	assert.True(t, report.Complete())
	assert.False(t, asked)
	assert.NoDirExists(t, filepath.Join(home.Path, FolderName), "looking creates nothing")
}

func TestFoldersThatCannotBeUsed(t *testing.T) {
	outside := sidecartest.NewHome(t)
	files(outside, "x.json", manifestName("1"))
	for name, prepare := range map[string]func(home *sidecartest.Home){
		"a file":                 func(home *sidecartest.Home) { home.Write(FolderName, "text") },
		"a link to a file":       func(home *sidecartest.Home) { home.Write("file", "text"); linkSessions(t, home, "file") },
		"a link out of the home": func(home *sidecartest.Home) { linkSessions(t, home, filepath.Join(outside.Path, FolderName)) },
		"a relative link out":    func(home *sidecartest.Home) { linkSessions(t, home, "../../outside") },
		"a link to the home":     func(home *sidecartest.Home) { linkSessions(t, home, ".") },
		"a link above the home":  func(home *sidecartest.Home) { linkSessions(t, home, "..") },
		"a dangling link":        func(home *sidecartest.Home) { linkSessions(t, home, "nothing") },
		"a link to itself":       func(home *sidecartest.Home) { linkSessions(t, home, FolderName) },
		"a link out, by a folder": func(home *sidecartest.Home) {
			linkSessions(t, home, "out/"+FolderName)
			require.NoError(t, os.Symlink(outside.Path, filepath.Join(home.Path, "out")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := bareHome(t)
			require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(home.Path), "..", "outside"), 0o700))
			prepare(home)
			assert.Equal(t, FolderName, requireUnusable(t, home.Path).Name)
		})
	}
	assert.Equal(t, []string{manifestName("1"), "x.json"}, outside.Sessions())
}

func TestMissingHomeCannotBeUsed(t *testing.T) {
	home := filepath.Join(t.TempDir(), "missing")
	assert.Equal(t, home, requireUnusable(t, home).Name)
	assert.NoDirExists(t, home)
}

func TestLinksInsideTheHomeAreFollowed(t *testing.T) {
	for name, target := range map[string]func(home string) string{
		"relative":           func(string) string { return "data/sessions" },
		"absolute":           func(home string) string { return filepath.Join(home, "data", "sessions") },
		"by another link":    func(string) string { return "link/sessions" },
		"out and back again": func(home string) string { return "../" + filepath.Base(home) + "/data/sessions" },
	} {
		t.Run(name, func(t *testing.T) {
			home := bareHome(t)
			require.NoError(t, os.MkdirAll(filepath.Join(home.Path, "data", "sessions"), 0o700))
			require.NoError(t, os.Symlink(filepath.Join(home.Path, "data"), filepath.Join(home.Path, "link")))
			linkSessions(t, home, target(home.Path))
			home.Artifacts("x", "y")

			folder := open(t, home)
			_, err := folder.WriteManifest([]string{"x"})
			require.NoError(t, err)
			report := folder.Process(t.Context(), alive())
			assert.True(t, report.Complete())
			assert.Equal(t, []string{"request_dump_y_1.json", "session_y.json", "y.json", "y.jsonl"}, home.Sessions())
			link, err := os.Lstat(filepath.Join(home.Path, FolderName))
			require.NoError(t, err)
			assert.Equal(t, os.ModeSymlink, link.Mode().Type())
		})
	}
}

// The folder is opened once: what takes its place meanwhile is never touched.
func TestTheFolderStaysTheSame(t *testing.T) {
	outside := sidecartest.NewHome(t)
	outside.Artifacts("x")
	for name, replace := range map[string]func(path string) error{
		"by another folder": func(path string) error { return os.MkdirAll(path, 0o700) },
		"by a link out":     func(path string) error { return os.Symlink(filepath.Join(outside.Path, FolderName), path) },
	} {
		t.Run(name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			home.Artifacts("x")
			folder := open(t, home)
			path := filepath.Join(home.Path, FolderName)
			require.NoError(t, os.Rename(path, path+".old"))
			require.NoError(t, replace(path))
			if name == "by another folder" {
				home.Artifacts("x")
			}
			manifest, err := folder.WriteManifest([]string{"x"})
			require.NoError(t, err)
			assert.FileExists(t, filepath.Join(path+".old", string(manifest)))
			assert.Equal(t, []string{"x"}, folder.Process(t.Context(), alive()).Removed)
			old, err := os.ReadDir(path + ".old")
			require.NoError(t, err)
			assert.Empty(t, old)
			assert.Len(t, home.Sessions(), 4)
		})
	}
	assert.Len(t, outside.Sessions(), 4)
}

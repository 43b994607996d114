package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newFolder makes a folder without a link on its way, and the folders below it.
func newFolder(t *testing.T, below ...string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range below {
		require.NoError(t, os.MkdirAll(filepath.Join(path, name), 0o700))
	}
	return path
}

func link(t *testing.T, target, path string) {
	t.Helper()
	require.NoError(t, os.Symlink(target, path))
}

// Every spelling of one folder gives the same path, or two deletes could hold two locks of it.
func TestOneSpellingForEveryWay(t *testing.T) {
	root := newFolder(t, "profiles/work", "other/deep")
	work := filepath.Join(root, "profiles", "work")
	link(t, work, filepath.Join(root, "absolute"))
	link(t, "profiles/work", filepath.Join(root, "relative"))
	link(t, "relative", filepath.Join(root, "second"))
	link(t, "second", filepath.Join(root, "third"))
	link(t, "profiles", filepath.Join(root, "via"))
	link(t, "../profiles/work", filepath.Join(root, "other", "up"))
	t.Chdir(filepath.Join(root, "other"))
	for name, path := range map[string]string{
		"plain":                   work,
		"trailing slash":          work + "/",
		"doubled slashes":         strings.ReplaceAll(work, "/", "//"),
		"dots":                    root + "/other/../profiles/./work",
		"relative":                "../profiles/work",
		"absolute link":           root + "/absolute",
		"relative link":           root + "/relative",
		"chain of links":          root + "/third",
		"link on the way":         root + "/via/work",
		"relative link, relative": "up",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(path)
			require.NoError(t, err)
			assert.Equal(t, work, got)
		})
	}
}

// The folder above a link is what the system takes for it: the one that holds the link's target.
func TestParentOfALinkIsItsTargetsParent(t *testing.T) {
	root := newFolder(t, "real/inner", "real/home", "home")
	link(t, "real/inner", filepath.Join(root, "link"))
	got, err := Resolve(root + "/link/../home")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "real", "home"), got)

	t.Chdir(root)
	got, err = Resolve("link/../home")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "real", "home"), got)
}

func TestTheWorkingFoldersOwnLinksAreResolved(t *testing.T) {
	root := newFolder(t, "real/home", "home")
	link(t, "real", filepath.Join(root, "link"))
	t.Chdir(filepath.Join(root, "link")) // which also sets PWD to this spelling
	got, err := Resolve("home")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "real", "home"), got)
	got, err = Resolve("../home")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(root, "home"), got)
}

func TestOddNamesArePlainNames(t *testing.T) {
	for _, name := range []string{"with space", "100%", "a?b#c", "new\nline", "\xff\xfe", "~", "$HOME", "*", "-rf"} {
		root := newFolder(t, name)
		got, err := Resolve(filepath.Join(root, name))
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(root, name), got)
	}
}

func TestWaysThatLeadNowhere(t *testing.T) {
	root := newFolder(t, "home")
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	link(t, "nothing", filepath.Join(root, "dangling"))
	link(t, "round", filepath.Join(root, "loop"))
	link(t, "loop", filepath.Join(root, "round"))
	for name, test := range map[string]struct {
		path string
		want error
	}{
		"missing":            {"/missing", ErrMissing},
		"missing on the way": {"/missing/home", ErrMissing},
		"missing and back":   {"/missing/../home", ErrMissing},
		"dangling link":      {"/dangling", ErrMissing},
		"file in the way":    {"/file/home", ErrMissing},
		"file as a folder":   {"/file/", ErrMissing},
		"NUL":                {"/home\x00", ErrMissing},
		"NUL on the way":     {"/home\x00/../home", ErrMissing},
		"loop of links":      {"/loop", ErrUnusable},
		"name too long":      {"/" + strings.Repeat("x", 300), ErrUnusable},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Resolve(root + test.path)
			require.ErrorIs(t, err, test.want)
			assert.Empty(t, got)
			assert.NotContains(t, err.Error(), "\x00")
		})
	}
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	assert.Len(t, entries, 5, "nothing was created")
}

func TestContains(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/a/state.db":      true,
		"/home/a/deep/state.db": true,
		"/home/a/..hidden":      true,
		"/home/a":               false,
		"/home/a/":              false,
		"/home":                 false,
		"/home/ab":              false,
		"/home/b/state.db":      false,
		"/":                     false,
		"relative":              false,
	} {
		assert.Equal(t, want, Contains("/home/a", path), path)
	}
}

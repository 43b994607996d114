package statedb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// emptyHome is a resolved folder, with a folder outside beside it.
func emptyHome(t *testing.T) (home, outside string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home, outside = filepath.Join(root, "home"), filepath.Join(root, "outside")
	require.NoError(t, os.Mkdir(home, 0o700))
	require.NoError(t, os.Mkdir(outside, 0o700))
	return home, outside
}

func makeFile(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
}

func TestLocate(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(home, outside string) error
		want    string // below the home
	}{
		"a file":        {func(home, _ string) error { return os.WriteFile(filepath.Join(home, FileName), nil, 0o600) }, FileName},
		"a link inside": {func(home, _ string) error { return os.Symlink("data/store", filepath.Join(home, FileName)) }, "data/store"},
		"an absolute link inside": {
			func(home, _ string) error {
				return os.Symlink(filepath.Join(home, "data", "store"), filepath.Join(home, FileName))
			},
			"data/store",
		},
		"a link by a link outside that comes back": {
			func(home, outside string) error {
				if err := os.Symlink(filepath.Join(home, "data"), filepath.Join(outside, "back")); err != nil {
					return err
				}
				return os.Symlink("../outside/back/store", filepath.Join(home, FileName))
			}, "data/store",
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, outside := emptyHome(t)
			makeFile(t, filepath.Join(home, "data", "store"))
			require.NoError(t, test.prepare(home, outside))
			path, err := Locate(home)
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(home, test.want), path)
		})
	}
}

func TestLocateRefuses(t *testing.T) {
	link := func(target string) func(home, outside string) error {
		return func(home, _ string) error { return os.Symlink(target, filepath.Join(home, FileName)) }
	}
	for name, test := range map[string]struct {
		prepare func(home, outside string) error
		want    error
	}{
		"no home": {func(home, _ string) error { return os.Remove(home) }, ErrMissing},
		"the home is a file": {func(home, _ string) error {
			return os.Rename(filepath.Join(filepath.Dir(home), "outside", "store"), home+".db")
		}, ErrMissing},
		"no store":            {func(string, string) error { return nil }, ErrMissing},
		"another case":        {func(home, _ string) error { return os.WriteFile(filepath.Join(home, "State.db"), nil, 0o600) }, ErrMissing},
		"a dangling link":     {link("nothing"), ErrMissing},
		"a dangling link out": {link("../nothing"), ErrMissing},
		"a link out":          {link("../outside/store"), ErrIO},
		"a link to a name that begins like the home": {
			func(home, outside string) error {
				if err := os.Rename(outside, home+"-two"); err != nil {
					return err
				}
				return os.Symlink(home+"-two/store", filepath.Join(home, FileName))
			}, ErrIO,
		},
		"a link to the home": {link("."), ErrIO},
		"a link above":       {link(".."), ErrIO},
		"a link to itself":   {link(FileName), ErrIO},
		"a link to a folder": {
			func(home, _ string) error {
				return errors.Join(os.Mkdir(filepath.Join(home, "sub"), 0o700), os.Symlink("sub", filepath.Join(home, FileName)))
			}, ErrIO,
		},
		"a folder": {func(home, _ string) error { return os.Mkdir(filepath.Join(home, FileName), 0o700) }, ErrIO},
	} {
		t.Run(name, func(t *testing.T) {
			home, outside := emptyHome(t)
			makeFile(t, filepath.Join(outside, "store"))
			require.NoError(t, test.prepare(home, outside))
			if name == "the home is a file" {
				home += ".db"
			}
			path, err := Locate(home)
			require.ErrorIs(t, err, test.want)
			assert.Empty(t, path)
			_, err = LiveIDs(t.Context(), home, []string{"x"})
			require.ErrorIs(t, err, test.want)
		})
	}
}

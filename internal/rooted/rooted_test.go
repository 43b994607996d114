package rooted

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFolderIsMadeOnce(t *testing.T) {
	home := open(t, t.TempDir())
	missing, err := Open(home, "folder")
	require.NoError(t, err)
	assert.Nil(t, missing)
	for _, first := range []bool{true, false} {
		root, created, err := Make(home, "folder")
		require.NoError(t, err)
		require.NoError(t, root.Close())
		assert.Equal(t, first, created)
	}
}

// Whether it is opened or made: what leads out of the home, or is no folder, is neither followed nor replaced.
func TestWhatStandsInTheWayOfAFolder(t *testing.T) {
	path, outside := t.TempDir(), t.TempDir()
	home := open(t, path)
	at := filepath.Join(path, "folder")
	for name, put := range map[string]func() error{
		"a file":               func() error { return os.WriteFile(at, nil, 0o600) },
		"a link to nothing":    func() error { return os.Symlink("nothing", at) },
		"a link to outside":    func() error { return os.Symlink(outside, at) },
		"a link to the home":   func() error { return os.Symlink(".", at) },
		"a way to the outside": func() error { return os.Symlink("../"+filepath.Base(outside), at) },
	} {
		require.NoError(t, put(), name)
		before, err := os.Lstat(at)
		require.NoError(t, err)
		_, err = Open(home, "folder")
		require.Error(t, err, name)
		_, created, err := Make(home, "folder")
		require.Error(t, err, name)
		assert.False(t, created, name)
		after, err := os.Lstat(at)
		require.NoError(t, err, name)
		assert.True(t, os.SameFile(before, after), name)
		require.NoError(t, os.Remove(at))
	}
}

func TestALinkThatStaysInsideIsFollowed(t *testing.T) {
	path := t.TempDir()
	home := open(t, path)
	require.NoError(t, os.Mkdir(filepath.Join(path, "real"), 0o700))
	for _, target := range []string{"real", filepath.Join(path, "real")} {
		require.NoError(t, os.Symlink(target, filepath.Join(path, "folder")))
		root, created, err := Make(home, "folder")
		require.NoError(t, err)
		assert.False(t, created)
		require.NoError(t, root.WriteFile("in it", nil, 0o600))
		require.NoError(t, root.Close())
		assert.FileExists(t, filepath.Join(path, "real", "in it"))
		require.NoError(t, os.Remove(filepath.Join(path, "folder")))
	}
}

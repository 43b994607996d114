package newfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ways are how a file comes to be: without a name where the system can, and under a temporary one.
var ways = map[string]func(path string) (*File, error){
	"as the system can": Create,
	"under a temporary name": func(path string) (*File, error) {
		folder, err := Folder(path)
		if err != nil {
			return nil, err
		}
		return createTemporary(folder, filepath.Join(folder, filepath.Base(path)))
	},
}

func eachWay(t *testing.T, test func(t *testing.T, begin func(path string) (*File, error))) {
	t.Helper()
	for name, begin := range ways {
		t.Run(name, func(t *testing.T) { test(t, begin) })
	}
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	found := []string{}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func TestAFileIsThereWhole(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(string) (*File, error)) {
		folder := t.TempDir()
		path := filepath.Join(folder, "new")
		f, err := begin(path)
		require.NoError(t, err)
		_, err = f.Write([]byte("all of it"))
		require.NoError(t, err)
		require.NoFileExists(t, path)
		require.NoError(t, f.Commit())
		f.Discard() // which does nothing any more

		assert.Equal(t, []string{"new"}, names(t, folder))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "all of it", string(text))
		info, err := os.Lstat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	})
}

func TestNothingIsLeftOfADiscardedFile(t *testing.T) {
	eachWay(t, func(t *testing.T, begin func(string) (*File, error)) {
		folder := t.TempDir()
		f, err := begin(filepath.Join(folder, "new"))
		require.NoError(t, err)
		_, err = f.Write([]byte("half"))
		require.NoError(t, err)
		f.Discard()
		f.Discard()
		assert.Empty(t, names(t, folder))
	})
}

// takers put something where a file is to be.
var takers = map[string]func(path string) error{
	"a file":                    func(path string) error { return os.WriteFile(path, []byte("other"), 0o644) },
	"a folder":                  func(path string) error { return os.Mkdir(path, 0o755) },
	"a link to a file":          func(path string) error { return os.Symlink("/etc/hostname", path) },
	"a link that leads nowhere": func(path string) error { return os.Symlink("nowhere", path) },
}

// TestATakenNameIsLeftAlone also takes the name while the file is being written.
func TestATakenNameIsLeftAlone(t *testing.T) {
	for what, take := range takers {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new")
			require.NoError(t, take(path))
			_, err := Create(path)
			require.ErrorIs(t, err, ErrNotMade)
			require.ErrorIs(t, err, fs.ErrExist)

			eachWay(t, func(t *testing.T, begin func(string) (*File, error)) {
				folder := t.TempDir()
				path := filepath.Join(folder, "new")
				f, err := begin(path)
				require.NoError(t, err)
				require.NoError(t, take(path))
				before, err := os.Lstat(path)
				require.NoError(t, err)
				err = f.Commit()
				require.ErrorIs(t, err, ErrNotMade)
				require.ErrorIs(t, err, fs.ErrExist)
				assert.Equal(t, []string{"new"}, names(t, folder))
				after, err := os.Lstat(path)
				require.NoError(t, err)
				assert.True(t, os.SameFile(before, after))
				assert.Equal(t, before.ModTime(), after.ModTime())
			})
		})
	}
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "missing", "new"))
	require.ErrorIs(t, err, ErrNotMade)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAPathMustEndWithAName(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{folder + "/", folder + "/new/", folder + "/..", folder + "/.", ""} {
		_, err := Create(path)
		require.ErrorIs(t, err, ErrNotMade, path)
	}
	assert.Empty(t, names(t, folder))
}

// TestAFolderIsFoundAsTheSystemFindsIt goes up from where a link leads, not from where it is.
func TestAFolderIsFoundAsTheSystemFindsIt(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "there", "below"), 0o700))
	require.NoError(t, os.Symlink("there/below", filepath.Join(folder, "link")))
	f, err := Create(folder + "/link/../new")
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	assert.FileExists(t, filepath.Join(folder, "there", "new"))
}

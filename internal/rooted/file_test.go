package rooted

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func open(t *testing.T, path string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func create(t *testing.T, folder *os.Root, text string) *File {
	t.Helper()
	file, err := Create(folder, "name")
	require.NoError(t, err)
	_, err = file.Write([]byte(text))
	require.NoError(t, err)
	return file
}

func names(t *testing.T, folder *os.Root) []string {
	t.Helper()
	all, err := Names(folder)
	require.NoError(t, err)
	return all
}

// A file has its name when all of it is there, in the place of an older one, and for its owner alone.
func TestAFileIsNamedByItsCommit(t *testing.T) {
	folder := open(t, t.TempDir())
	for _, text := range []string{"old", "new"} {
		file := create(t, folder, text)
		assert.Contains(t, names(t, folder), filepath.Base(file.temporary))
		named, err := file.Commit(Points{})
		require.NoError(t, err)
		assert.True(t, named)
		require.NoError(t, file.Discard(), "which does nothing any more")
		assert.Equal(t, []string{"name"}, names(t, folder))
		there, err := folder.ReadFile("name")
		require.NoError(t, err)
		assert.Equal(t, text, string(there))
	}
}

func TestAFileThatIsGivenUpLeavesNothing(t *testing.T) {
	folder := open(t, t.TempDir())
	file := create(t, folder, "text")
	require.NoError(t, file.Discard())
	require.NoError(t, file.Discard())
	assert.Empty(t, names(t, folder))
	file = create(t, folder, "text")
	require.NoError(t, folder.Remove(file.temporary))
	require.NoError(t, file.Discard(), "somebody else has removed it")
}

// A name that cannot be taken stays what it was.
func TestANameThatCannotBeTaken(t *testing.T) {
	folder := open(t, t.TempDir())
	require.NoError(t, folder.MkdirAll("name/in the way", 0o700))
	named, err := create(t, folder, "text").Commit(Points{})
	require.Error(t, err)
	assert.False(t, named)
	assert.Equal(t, []string{"name"}, names(t, folder))
	info, err := folder.Stat("name/in the way")
	require.NoError(t, err)
	assert.True(t, info.IsDir())
}

// What cannot be made certain has no name.
func TestBytesThatCannotBeSynced(t *testing.T) {
	folder := open(t, t.TempDir())
	file := create(t, folder, "text")
	require.NoError(t, file.file.Close())
	named, err := file.Commit(Points{})
	require.ErrorIs(t, err, fs.ErrClosed)
	assert.False(t, named)
	assert.Empty(t, names(t, folder))
}

package trash

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnEntryWithASecondName: a backup may be made of links.
func TestAnEntryWithASecondName(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	want, err := rowsOf(f)
	require.NoError(t, err)
	require.NoError(t, os.Link(pathIn(home), filepath.Join(home, "backup")))
	rows, err := rowsOf(f)
	require.NoError(t, err)
	assert.Equal(t, want, rows)
	var checker Checker
	for range 2 {
		listing, err := checker.List(t.Context(), f, home)
		require.NoError(t, err)
		assert.Len(t, listing.Entries, 1)
	}
	headers, err := f.Headers()
	require.NoError(t, err)
	assert.Len(t, headers, 1)
	require.NoError(t, f.Remove(operation))
	assert.FileExists(t, filepath.Join(home, "backup"), "the link alone goes")
}

// What may be the store's own file is never opened: to close it would take SQLite's locks away.
func TestTheStoreUnderTheNameOfAnEntry(t *testing.T) {
	for _, name := range []string{"state.db", "state.db-wal", "state.db-shm", "state.db-journal", "real.db", "real.db-wal"} {
		home := t.TempDir()
		f := write(t, home)
		entry := filepath.Join(home, name)
		require.NoError(t, os.Link(pathIn(home), entry))
		if strings.HasPrefix(name, "real") {
			if name != "real.db" {
				require.NoError(t, os.WriteFile(filepath.Join(home, "real.db"), nil, 0o600))
			}
			require.NoError(t, os.Symlink("real.db", filepath.Join(home, "state.db")))
		}
		requireDamaged(t, home)
		headers, err := f.Headers()
		require.NoError(t, err)
		assert.Empty(t, headers)
		require.NoError(t, f.Remove(operation))
		assert.FileExists(t, entry)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	require.NoError(t, os.Rename(pathIn(home), filepath.Join(home, "other")))
	require.NoError(t, os.Symlink(filepath.Join(home, "other"), pathIn(home)))
	requireDamaged(t, home)
	require.NoError(t, f.Remove(operation))
	assert.FileExists(t, filepath.Join(home, "other"), "the link alone goes")

	require.NoError(t, os.Mkdir(pathIn(home), 0o700))
	_, err := f.Check(t.Context(), operation)
	require.ErrorIs(t, err, ErrDamaged)
	err = f.Remove(operation)
	require.ErrorIs(t, err, ErrUnusable)
	assert.ErrorContains(t, err, "it is a folder and no entry, and stays: take it away by hand")
	assert.DirExists(t, pathIn(home))
}

// TestAFolderThatOthersMayRead is its owner's alone once something is written there; one that a link leads to is somebody's.
func TestAFolderThatOthersMayRead(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, FolderName)
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.Chmod(path, 0o777))
	open(t, home)
	assert.Equal(t, os.FileMode(0o777), mode(path), "who only reads changes nothing")
	write(t, home)
	assert.Equal(t, os.FileMode(0o700), mode(path))
	require.NoError(t, os.Rename(path, filepath.Join(home, "elsewhere")))
	require.NoError(t, os.Chmod(filepath.Join(home, "elsewhere"), 0o755))
	require.NoError(t, os.Symlink("elsewhere", path))
	write(t, home)
	assert.Equal(t, os.FileMode(0o755), mode(path))
}

func TestATrashThatIsNoFolder(t *testing.T) {
	outside, home := t.TempDir(), t.TempDir()
	path := filepath.Join(home, FolderName)
	for name, put := range map[string]func() error{
		"a file":                         func() error { return os.WriteFile(path, nil, 0o600) },
		"a link to outside":              func() error { return os.Symlink(outside, path) },
		"a link to outside, the far way": func() error { return os.Symlink("../"+filepath.Base(outside), path) },
		"a link to nothing":              func() error { return os.Symlink("nothing", path) },
		"a link to a file": func() error {
			return errors.Join(os.WriteFile(filepath.Join(home, "file"), nil, 0o600), os.Symlink("file", path))
		},
	} {
		require.NoError(t, put(), name)
		_, err := Open(home)
		assert.ErrorIs(t, err, ErrUnusable, name)
		require.NoError(t, os.Remove(path))
	}
	inside, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, inside)
}

func TestATrashThatIsALinkInside(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, "elsewhere"), 0o700))
	for _, target := range []string{"elsewhere", filepath.Join(home, "elsewhere")} {
		require.NoError(t, os.Symlink(target, filepath.Join(home, FolderName)))
		f := write(t, home)
		assert.FileExists(t, filepath.Join(home, "elsewhere", operation+suffix))
		require.NoError(t, f.Remove(operation))
		require.NoError(t, os.Remove(filepath.Join(home, FolderName)))
	}
}

func TestIDsThatNameNoEntry(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	for _, id := range []string{"", ".", "..", "../trash/" + operation, operation + suffix, strings.ToUpper(operation), operation[1:], operation + "\n"} {
		require.ErrorIs(t, f.Remove(id), ErrNotFound, "%q", id)
		require.ErrorIs(t, f.Read(t.Context(), id, nil), ErrNotFound, "%q", id)
	}
	put := func(name string) { require.NoError(t, os.WriteFile(filepath.Join(home, FolderName, name), nil, 0o600)) }
	put("README")
	put("other" + suffix)
	put(operation + suffix + ".01234567")
	put("other" + suffix + ".01234567.tmp")
	var checker Checker
	listing, err := checker.List(t.Context(), f, home)
	require.NoError(t, err)
	assert.Len(t, listing.Entries, 1)
	assert.Empty(t, listing.Unreadable, "what is no entry by its name is not ours")
	before := namesIn(t, home)
	put(operation + suffix + ".01234567.tmp")
	put(strings.Repeat("f", 32) + suffix + ".x.tmp")
	odd := strings.Repeat("0", 32) + suffix + ".00000000.tmp"
	require.NoError(t, os.Mkdir(filepath.Join(home, FolderName, odd), 0o700))
	before = append([]string{odd}, before...)
	require.NoError(t, f.RemoveTemporary())
	assert.Equal(t, before, namesIn(t, home), "temporary files of ours go, and nothing else")
}

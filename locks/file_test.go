package locks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireUnusable locks a home whose lock path cannot serve, and gives the failure.
func requireUnusable(t *testing.T, home string) *Error {
	t.Helper()
	var h Homes
	_, err := h.Lock(t.Context(), home)
	require.ErrorIs(t, err, ErrUnusable)
	require.NotErrorIs(t, err, ErrTimeout)
	var failure *Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, filepath.Join(home, FileName), failure.Path)
	require.Error(t, failure.Cause)
	require.ErrorIs(t, err, failure.Cause)
	assert.Equal(t, ErrUnusable.Error()+": "+failure.Path+": "+failure.Cause.Error(), failure.Error())
	assert.Zero(t, h.remembered(), "the thread lock is free again")
	return failure
}

func TestFolderIsNoLock(t *testing.T) {
	home := newHome(t)
	require.NoError(t, os.Mkdir(filepath.Join(home, FileName), 0o700))
	requireUnusable(t, home)
	assert.True(t, lockFileOf(t, home).IsDir())
}

func TestLinkIsNoLock(t *testing.T) {
	outside := filepath.Join(newHome(t), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o644))
	before, err := os.Stat(outside)
	require.NoError(t, err)
	inside := func(home string) string {
		path := filepath.Join(home, "inside")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	for name, target := range map[string]func(home string) string{
		"dangling": func(home string) string { return filepath.Join(home, "nothing") },
		"outside":  func(string) string { return outside },
		"inside":   inside,
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			link := filepath.Join(home, FileName)
			require.NoError(t, os.Symlink(target(home), link))
			requireUnusable(t, home)
			got, err := os.Readlink(link)
			require.NoError(t, err)
			assert.Equal(t, target(home), got)
			assert.NoFileExists(t, filepath.Join(home, "nothing"), "nothing is created through the link")
		})
	}
	after, err := os.Stat(outside)
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime())
	assert.Equal(t, before.Mode(), after.Mode())
	content, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(content))
}

func TestMissingHomeGetsNoLock(t *testing.T) {
	home := filepath.Join(newHome(t), "missing")
	requireUnusable(t, home)
	assert.NoDirExists(t, home)
}

func TestFileIsPrivateAndStays(t *testing.T) {
	home := newHome(t)
	var h Homes
	lockNow(t, &h, home)()
	first := lockFileOf(t, home)
	assert.Equal(t, os.FileMode(0o600), first.Mode())
	for range 3 {
		unlock := lockNow(t, &h, home)
		assert.True(t, os.SameFile(first, lockFileOf(t, home)))
		unlock()
		assert.True(t, os.SameFile(first, lockFileOf(t, home)), "it is never unlinked")
	}
}

// Another program may keep a note in the file: it is theirs.
func TestFileOfOthersIsLeftAsItIs(t *testing.T) {
	home := newHome(t)
	path := filepath.Join(home, FileName)
	require.NoError(t, os.WriteFile(path, []byte("4711\n"), 0o640))
	var h Homes
	lockNow(t, &h, home)()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "4711\n", string(content))
	assert.Equal(t, os.FileMode(0o640), lockFileOf(t, home).Mode())
}

package cleanup

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestMediaInAFolderThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	closeFolder(t, filepath.Dir(path), 0o500)
	f := open(t, home)
	assert.Equal(t, NamedRemovable, f.State(mediaAt(path)))
	state, err := f.Unlink(mediaAt(path))
	require.ErrorIs(t, err, os.ErrPermission)
	assert.Equal(t, NamedRemovable, state)
	assert.FileExists(t, path)
}

// Where nobody can look, nobody can tell: that is no failure.
func TestMediaInAFolderThatMayNotBeEntered(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	closeFolder(t, filepath.Dir(path), 0)
	requireStays(t, home, path)
	closeFolder(t, filepath.Dir(filepath.Dir(path)), 0)
	requireStays(t, home, path)
}

func TestSpilledFilesInAFolderThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	for _, name := range []string{"cache/spillover/x.txt", "cache/spillover/tool-results/y.txt"} {
		home.Write(name, "x")
	}
	closeFolder(t, filepath.Join(home.Path, "cache/spillover"), 0o500)
	gone, failed := unlinkSpilled(t, open(t, home),
		"cache/spillover/x.txt", "cache/spillover/absent.txt", "cache/spillover/tool-results/y.txt")
	assert.Equal(t, []string{"cache/spillover/absent.txt", "cache/spillover/tool-results/y.txt"}, gone)
	assert.Len(t, failed, 1)
	require.ErrorIs(t, failed["cache/spillover/x.txt"], os.ErrPermission)
}

func TestSpillFolderThatMayNotBeListed(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	home.Write("cache/spillover/x.txt", "x")
	home.Write("cache/spillover/tool-results/y.txt", "x")
	closeFolder(t, filepath.Join(home.Path, "cache/spillover/tool-results"), 0o300)
	files, err := open(t, home).Spilled()
	require.ErrorIs(t, err, os.ErrPermission)
	assert.Equal(t, []string{"cache/spillover/x.txt"}, files)
}

// noneLeft lets no further descriptor be opened while something is done.
func noneLeft(t *testing.T, do func()) {
	t.Helper()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	next, err := os.Open("/") // the lowest number that is free
	require.NoError(t, err)
	lowest := uint64(next.Fd())
	require.NoError(t, next.Close())
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: lowest, Max: limit.Max}))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	do()
}

// Where too many files are open, nobody could look: such a file may have to go, and folders that cannot be listed are no empty
// ones.
func TestTooManyOpenFiles(t *testing.T) {
	if inChild(t) {
		return
	}
	home := sidecartest.NewHome(t)
	path := putMedia(t, home, "")
	home.Write("cache/spillover/x.txt", "x")
	f := open(t, home)
	spilled := Named{Path: "cache/spillover/x.txt"}
	noneLeft(t, func() {
		for _, n := range []Named{mediaAt(path), spilled} {
			assert.Equal(t, NamedUnknown, f.State(n))
			state, err := f.Unlink(n)
			require.NoError(t, err)
			assert.Equal(t, NamedUnknown, state)
			gone, failed := f.Sync(t.Context(), []Named{n})
			assert.Empty(t, gone)
			assert.Empty(t, failed)
		}
		files, err := f.Spilled()
		require.ErrorIs(t, err, ErrNotListed)
		require.ErrorIs(t, err, syscall.EMFILE)
		assert.Empty(t, files)
	})
	assert.Equal(t, NamedRemovable, f.State(mediaAt(path)))
	files, err := f.Spilled()
	require.NoError(t, err)
	assert.Equal(t, []string{spilled.Path}, files)
}

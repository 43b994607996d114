package cleanup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestMediaInAFolderThatMayNotBeWritten(t *testing.T) {
	if asNobody(t) {
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
	if asNobody(t) {
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
	if asNobody(t) {
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
	if asNobody(t) {
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

package cleanup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// unlinkSpilled removes files and tells which are gone for good, sorted, and which could not be removed.
func unlinkSpilled(t *testing.T, f *Folder, files ...string) (gone []string, failed map[string]error) {
	t.Helper()
	failed = map[string]error{}
	var unlinked []Named
	for _, file := range files {
		state, err := f.Unlink(Named{Path: file})
		if err != nil {
			failed[file] = err
		}
		if state == NamedGone {
			unlinked = append(unlinked, Named{Path: file})
		}
	}
	certain, notSynced := f.Sync(t.Context(), unlinked)
	require.Empty(t, notSynced)
	for _, n := range certain {
		gone = append(gone, n.Path)
	}
	return slices.Sorted(slices.Values(gone)), failed
}

func TestSpilledFilesAreListedAndGo(t *testing.T) {
	home := sidecartest.NewHome(t)
	f := open(t, home)
	files, err := f.Spilled()
	require.NoError(t, err)
	assert.Empty(t, files, "there is no such folder")

	for _, name := range []string{"cache/spillover/b.txt", "cache/spillover/a.txt", "cache/spillover/tool-results/a.txt", "cache/x.txt", "cache/spillover/deep/x.txt"} {
		home.Write(name, "x")
	}
	require.NoError(t, os.Symlink(filepath.Join(home.Path, "cache/x.txt"), filepath.Join(home.Path, "cache/spillover/link.txt")))
	files, err = f.Spilled()
	require.NoError(t, err)
	assert.Equal(t, []string{"cache/spillover/a.txt", "cache/spillover/b.txt", "cache/spillover/tool-results/a.txt"}, files)

	asked := []string{
		"cache/spillover/tool-results/a.txt", "cache/spillover/absent.txt", "cache/spillover/a.txt", "cache/spillover/link.txt",
		"cache/spillover/deep", "cache/spillover/deep/x.txt", "cache/x.txt", "cache/spillover/../x.txt", "cache/spillover/tool-results",
		"../x", "", "cache/spillover", "sessions/x.json", "/etc/passwd", `cache/spillover/a\b`, filepath.Join(home.Path, "cache/spillover/b.txt"),
	}
	states := map[string]NamedState{}
	for _, file := range asked {
		states[file] = f.State(Named{Path: file})
	}
	for file, state := range states {
		want := map[string]NamedState{
			"cache/spillover/tool-results/a.txt": NamedRemovable, "cache/spillover/a.txt": NamedRemovable, "cache/spillover/absent.txt": NamedGone,
		}[file]
		assert.Equal(t, want, state, file)
	}
	gone, failed := unlinkSpilled(t, f, asked...)
	assert.Equal(t, []string{"cache/spillover/a.txt", "cache/spillover/absent.txt", "cache/spillover/tool-results/a.txt"}, gone)
	assert.Empty(t, failed)
	files, err = f.Spilled()
	require.NoError(t, err)
	assert.Equal(t, []string{"cache/spillover/b.txt"}, files)
	for _, name := range []string{"cache/x.txt", "cache/spillover/deep/x.txt"} {
		assert.FileExists(t, filepath.Join(home.Path, name))
	}
}

func TestSpilledFilesOfAFolderThatIsGone(t *testing.T) {
	f := open(t, sidecartest.NewHome(t))
	assert.Equal(t, NamedGone, f.State(Named{Path: "cache/spillover/tool-results/x.txt"}))
	assert.Equal(t, NamedStays, f.State(Named{Path: "cache/other/x.txt"}))
	gone, failed := unlinkSpilled(t, f, "cache/spillover/x.txt", "cache/other/x.txt", `cache/spillover/a\b`)
	assert.Equal(t, []string{"cache/spillover/x.txt"}, gone)
	assert.Empty(t, failed)
}

// The names are not of the Agent's form today.
func TestSpilledFilesWithOtherNames(t *testing.T) {
	home := sidecartest.NewHome(t)
	names := []string{"cache/spillover/.hid", "cache/spillover/a b.txt", "cache/spillover/call:0.txt", "cache/spillover/\u00e9.txt"}
	for _, name := range names {
		home.Write(name, "x")
	}
	f := open(t, home)
	files, err := f.Spilled()
	require.NoError(t, err)
	assert.Equal(t, names, files)
	gone, failed := unlinkSpilled(t, f, names...)
	assert.Equal(t, names, gone)
	assert.Empty(t, failed)
}

// A link on the way may lead anywhere, inside the home too.
func TestSpillFoldersThatAreLinks(t *testing.T) {
	for _, link := range []string{"cache", "cache/spillover", "cache/spillover/tool-results"} {
		for _, inside := range []bool{true, false} {
			home, elsewhere := sidecartest.NewHome(t), sidecartest.NewHome(t)
			if inside {
				elsewhere = sidecartest.NewHomeAt(t, filepath.Join(home.Path, "elsewhere"))
			}
			file := "cache/spillover/tool-results/x.txt"
			target, err := filepath.Rel(link, file)
			require.NoError(t, err)
			elsewhere.Write(target, "x")
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home.Path, link)), 0o700))
			require.NoError(t, os.Symlink(elsewhere.Path, filepath.Join(home.Path, link)))
			f := open(t, home)
			files, err := f.Spilled()
			require.NoError(t, err)
			assert.Empty(t, files, link)
			assert.Equal(t, NamedStays, f.State(Named{Path: file}), link)
			gone, failed := unlinkSpilled(t, f, file)
			assert.Empty(t, gone, link)
			assert.Empty(t, failed, link)
			assert.FileExists(t, filepath.Join(elsewhere.Path, target))
		}
	}
}

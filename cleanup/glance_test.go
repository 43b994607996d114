package cleanup

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func namesOf(g glance) []string { return slices.Sorted(maps.Keys(g.manifests)) }

func TestAGlanceSeesManifestsAndTheStore(t *testing.T) {
	home := sidecartest.NewHome(t)
	assert.False(t, look(filepath.Join(home.Path, "nowhere"), glance{}).there)
	files(home, "x.json", ".cleanup_manifest_half.json.tmp")
	g := look(home.Path, glance{})
	assert.True(t, g.there)
	assert.Equal(t, filepath.Join(home.Path, FolderName), g.folder)
	assert.Empty(t, g.manifests)
	assert.False(t, g.store.there)

	home.Write(storeName, "a store")
	home.Write(storeName+walSuffix, "its log")
	name := put(home, "1", `["V"]`)
	g = look(home.Path, g)
	assert.Equal(t, []string{name}, namesOf(g))
	assert.True(t, g.store.there)
	assert.True(t, g.wal.there)
	again := look(home.Path, g)
	assert.Equal(t, g.manifests, again.manifests)
	assert.Equal(t, g.wal, again.wal)

	home.Write(storeName+walSuffix, "its log, longer")
	put(home, "1", `["V","W"]`)
	later := look(home.Path, again)
	assert.NotEqual(t, g.manifests, later.manifests, "written in place")
	assert.NotEqual(t, g.wal, later.wal)
}

// A file system counts time in steps: what comes in the same step as what was seen before must not be missed, and a folder in
// which nothing has happened since is not listed again.
func TestAGlanceTrustsAFolderOnlyWhenItHasBeenTheSameTwice(t *testing.T) {
	home := sidecartest.NewHome(t)
	folder := filepath.Join(home.Path, FolderName)
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	step := func() { require.NoError(t, os.Chtimes(folder, then, then)) }
	first := put(home, "1", `["V"]`)
	step()
	g := look(home.Path, glance{})
	second := put(home, "2", `["W"]`)
	step()
	g = look(home.Path, g)
	assert.Equal(t, []string{first, second}, namesOf(g))
	third := put(home, "3", `["X"]`)
	step()
	assert.Equal(t, []string{first, second}, namesOf(look(home.Path, g)), "nobody lists it for a third time")
	require.NoError(t, os.Chtimes(folder, then, then.Add(time.Second)))
	g = look(home.Path, g)
	assert.Equal(t, []string{first, second, third}, namesOf(g))
	require.NoError(t, os.Remove(filepath.Join(folder, first)))
	g = look(home.Path, g)
	assert.Equal(t, []string{second, third}, namesOf(g))
}

func TestAGlanceFollowsNoLinkOut(t *testing.T) {
	home := sidecartest.NewHome(t)
	sessions := filepath.Join(home.Path, FolderName)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, manifestName("1")), []byte(`["V"]`), 0o600))
	require.NoError(t, os.Remove(sessions))
	require.NoError(t, os.Symlink(outside, sessions))
	require.NoError(t, os.Symlink(filepath.Join(outside, manifestName("1")), filepath.Join(home.Path, storeName)))
	g := look(home.Path, glance{})
	require.ErrorIs(t, g.why, ErrUnusableFolder)
	assert.Empty(t, g.folder)
	assert.Empty(t, g.manifests)
	assert.False(t, g.store.there)

	inside := filepath.Join(home.Path, "inside")
	require.NoError(t, os.Mkdir(inside, 0o700))
	require.NoError(t, os.Remove(sessions))
	require.NoError(t, os.Symlink("inside", sessions))
	name := put(home, "2", `["V"]`)
	g = look(home.Path, g)
	require.NoError(t, g.why)
	assert.Equal(t, inside, g.folder)
	assert.Equal(t, []string{name}, namesOf(g))

	require.NoError(t, os.Remove(sessions))
	home.Write(FolderName, "no folder")
	require.ErrorIs(t, look(home.Path, g).why, ErrUnusableFolder)
}

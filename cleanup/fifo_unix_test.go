//go:build unix

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

func fifo(t *testing.T, home *sidecartest.Home, name string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(filepath.Join(home.Path, name), 0o600))
}

func TestAFIFOIsNoArtifact(t *testing.T) {
	home := sidecartest.NewHome(t)
	fifo(t, home, FolderName+"/x.jsonl")
	manifest := put(home, "1", `["x"]`)
	assert.Equal(t, Report{Pending: []Pending{{"x", CauseArtifactStuck}}}, process(t, home))
	assert.Equal(t, []string{manifest, "x.jsonl"}, home.Sessions())
}

// Reading one would wait for a writer for ever.
func TestAFIFOIsNoManifest(t *testing.T) {
	home := sidecartest.NewHome(t)
	fifo(t, home, FolderName+"/"+manifestName("1"))
	requireUntouched(t, home, manifestName("1"))
}

func TestAFIFOIsNoFolder(t *testing.T) {
	home := bareHome(t)
	fifo(t, home, FolderName)
	requireUnusable(t, home.Path)
	info, err := os.Lstat(filepath.Join(home.Path, FolderName))
	require.NoError(t, err)
	assert.Equal(t, os.ModeNamedPipe, info.Mode().Type())
}

func TestAFIFOThatIsOldAndTemporaryStays(t *testing.T) {
	home := sidecartest.NewHome(t)
	name := manifestName("1") + ".tmp"
	fifo(t, home, FolderName+"/"+name)
	require.NoError(t, os.Chtimes(filepath.Join(home.Path, FolderName, name), longAgo, longAgo))
	assert.Equal(t, Report{}, process(t, home))
	assert.Equal(t, []string{name}, home.Sessions())
}

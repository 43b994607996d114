package cleanup

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// inChild runs a test once more in a process of its own and tells whether it did.
func inChild(t *testing.T) bool {
	t.Helper()
	const inside = "CLEANUP_TEST_IN_CHILD"
	if os.Getenv(inside) != "" {
		return false
	}
	// The kernel's own name of this binary: the way to its folder may be closed to others.
	child := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	child.Dir = os.TempDir()
	child.Env = append(os.Environ(), inside+"=1")
	output, err := child.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name())
	return true
}

// closeFolder takes away a right on a folder until the test ends.
func closeFolder(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.Chmod(path, mode))
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
}

func TestManifestInAFolderThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	home.Artifacts("x")
	closeFolder(t, filepath.Join(home.Path, FolderName), 0o500)
	_, err := open(t, home).WriteManifest([]string{"x"})
	require.ErrorIs(t, err, ErrManifest)
	require.ErrorIs(t, err, os.ErrPermission)
	assert.Len(t, home.Sessions(), 4)
}

func TestMissingFolderInAHomeThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := bareHome(t)
	closeFolder(t, home.Path, 0o500)
	_, err := open(t, home).WriteManifest([]string{"x"})
	require.ErrorIs(t, err, ErrManifest)
	assert.NoDirExists(t, filepath.Join(home.Path, FolderName))
}

func TestFolderThatMayNotBeListed(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	put(home, "1", `["x"]`)
	closeFolder(t, filepath.Join(home.Path, FolderName), 0o300)
	require.ErrorIs(t, requireUnusable(t, home.Path), os.ErrPermission)
}

// Neither may an artifact go nor the manifest be rewritten: both stay as they are, and both are said.
func TestArtifactsInAFolderThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	home.Artifacts("x")
	stuck := put(home, "1", `["x"]`)
	mixed := put(home, "2", `["x", "y"]`)
	settled := put(home, "3", `["y"]`)
	closeFolder(t, filepath.Join(home.Path, FolderName), 0o500)
	report := process(t, home)
	assert.Equal(t, []Pending{{"x", CauseArtifactStuck}}, report.Pending)
	require.ErrorIs(t, report.Failed, os.ErrPermission)
	assert.False(t, report.Complete())
	assert.Len(t, home.Sessions(), 7)
	assert.Equal(t, `["x"]`, content(t, home, stuck))
	assert.Equal(t, `["x", "y"]`, content(t, home, mixed))
	assert.Equal(t, `["y"]`, content(t, home, settled))
}

func TestManifestThatMayNotBeRead(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := sidecartest.NewHome(t)
	name := put(home, "1", `["orphan"]`)
	require.NoError(t, os.Chmod(filepath.Join(home.Path, FolderName, name), 0))
	requireUntouched(t, home, name)
}

// The disk is full in the middle of the manifest: a limit on the size of files gives the same short write.
func TestManifestOnAFullDisk(t *testing.T) {
	if inChild(t) {
		return
	}
	home := sidecartest.NewHome(t)
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprintf("session-%d", i)
	}
	home.Artifacts(ids[0])
	folder := open(t, home)
	old, err := folder.WriteManifest(ids)
	require.NoError(t, err)
	whole := content(t, home, string(old))

	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 512, Max: limit.Max}))
	defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) }()

	_, err = folder.WriteManifest(ids)
	require.ErrorIs(t, err, ErrManifest)
	require.ErrorIs(t, err, syscall.EFBIG)
	assert.Equal(t, []string{string(old)}, home.Manifests(), "no temporary file is left")

	report := folder.Process(t.Context(), alive(ids[1:]...))
	require.ErrorIs(t, report.Failed, syscall.EFBIG)
	assert.Equal(t, []string{string(old)}, home.Sessions(), "the artifacts went, the manifest stays for the rest")
	assert.Equal(t, whole, content(t, home, string(old)))
}

package locks

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestFileThatMayNotBeWrittenIsNoLock(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := newHome(t)
	path := filepath.Join(home, FileName)
	require.NoError(t, os.WriteFile(path, nil, 0o400))
	require.ErrorIs(t, requireUnusable(t, home), os.ErrPermission)
	assert.Equal(t, os.FileMode(0o400), lockFileOf(t, home).Mode())
}

func TestFolderThatMayNotBeWrittenGetsNoLock(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := newHome(t)
	require.NoError(t, os.Chmod(home, 0o500))
	require.ErrorIs(t, requireUnusable(t, home), os.ErrPermission)
	assert.NoFileExists(t, filepath.Join(home, FileName))
}

func TestDescriptorIsNotInherited(t *testing.T) {
	home := newHome(t)
	var h Homes
	defer lockNow(t, &h, home)()
	ours, err := exec.Command("ls", "-l", "/proc/self/fd").Output()
	require.NoError(t, err)
	assert.Contains(t, string(ours), "/dev/null", "the listing works")
	assert.NotContains(t, string(ours), FileName)
	assert.Contains(t, openFiles(t), filepath.Join(home, FileName), "this process has it")
}

func TestDescriptorsDoNotGrow(t *testing.T) {
	home, busy, unusable := newHome(t), newHome(t), newHome(t)
	require.NoError(t, os.Mkdir(filepath.Join(unusable, FileName), 0o700))
	sidecartest.HoldFileLock(t, filepath.Join(busy, FileName))
	h := Homes{FilePatience: time.Nanosecond}
	lockNow(t, &h, home)()
	before := len(openFiles(t))
	for range 500 {
		lockNow(t, &h, home)()
	}
	for range 50 {
		_, err := h.Lock(t.Context(), busy)
		require.ErrorIs(t, err, ErrTimeout)
		_, err = h.Lock(t.Context(), unusable)
		require.ErrorIs(t, err, ErrUnusable)
	}
	assert.Len(t, openFiles(t), before)
	assert.Zero(t, h.remembered())
}

// openFiles lists what the descriptors of this process lead to.
func openFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var files []string
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
			files = append(files, target)
		}
	}
	return files
}

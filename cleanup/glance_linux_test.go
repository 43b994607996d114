package cleanup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"session-sidecar/internal/sidecartest"
)

// A lock of SQLite's is the process's: it would be gone as soon as anybody here closed another descriptor of that file.
func TestALookAtAHomeTakesNoLockAway(t *testing.T) {
	home := sidecartest.NewHome(t)
	put(home, "1", `["V"]`)
	files(home, "V.json")
	for _, name := range []string{storeName, storeName + walSuffix, storeName + "-shm"} {
		home.Write(name, "content")
		require.NoError(t, os.Link(filepath.Join(home.Path, name), filepath.Join(home.Path, FolderName, name)))
		ours, err := os.OpenFile(filepath.Join(home.Path, name), os.O_RDWR, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = ours.Close() })
		other, err := os.OpenFile(filepath.Join(home.Path, name), os.O_RDWR, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = other.Close() })
		lock := unix.Flock_t{Type: unix.F_WRLCK, Len: 1}
		require.NoError(t, unix.FcntlFlock(ours.Fd(), unix.F_SETLK, &lock))
		held := func() bool {
			asked := unix.Flock_t{Type: unix.F_WRLCK, Len: 1}
			require.NoError(t, unix.FcntlFlock(other.Fd(), unix.F_OFD_GETLK, &asked))
			return asked.Type != unix.F_UNLCK
		}
		require.True(t, held())
		t.Cleanup(func() { assert.True(t, held(), "the lock on %s is gone", name) }) // when all of the below is done
	}
	w := NewWatcher(discard)
	passed := make(chan struct{}, 1)
	<-w.Watch(home.Path, passesOver(home, passed))
	<-passed
	require.Equal(t, []Watch{{Path: home.Path, How: ByEvents}}, w.Watches())
	require.NoError(t, os.Truncate(filepath.Join(home.Path, storeName+walSuffix), 1)) // which opens nothing
	w.Nudge(home.Path)
	<-passed
	w.Close()
}

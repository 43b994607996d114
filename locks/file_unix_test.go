//go:build unix

package locks

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Opening a FIFO may wait for its other end for ever.
func TestFIFOIsNoLock(t *testing.T) {
	home := newHome(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(home, FileName), 0o600))
	requireUnusable(t, home)
	assert.Equal(t, os.ModeNamedPipe, lockFileOf(t, home).Mode().Type())
}

// The open itself refuses a link that takes the file's place after checkPath looked.
func TestOpenFollowsNoLink(t *testing.T) {
	home := newHome(t)
	link := filepath.Join(home, FileName)
	require.NoError(t, os.Symlink(filepath.Join(home, "nothing"), link))
	_, err := os.OpenFile(link, os.O_CREATE|os.O_RDWR|noFollow, 0o600)
	require.Error(t, err)
	assert.NoFileExists(t, filepath.Join(home, "nothing"))
}

//go:build unix

package statedb

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Opening a FIFO may wait for its other end for ever.
func TestAFIFOIsNoStore(t *testing.T) {
	home, _ := emptyHome(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(home, FileName), 0o600))
	_, err := Locate(home)
	require.ErrorIs(t, err, ErrIO)
	_, err = LiveIDs(t.Context(), home, []string{"x"})
	require.ErrorIs(t, err, ErrIO)
}

package foldersync

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFolderIsSyncedAndClosed(t *testing.T) {
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "name"), nil, 0o600))
	var opened *os.File
	require.NoError(t, Sync(func() (*os.File, error) {
		var err error
		opened, err = os.Open(path)
		return opened, err
	}))
	if opened != nil { // Windows asks for none
		require.ErrorIs(t, opened.Close(), os.ErrClosed)
	}
}

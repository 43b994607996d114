//go:build unix

package foldersync

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFolderThatCannotBeOpenedIsNotSynced(t *testing.T) {
	require.ErrorIs(t, Sync(func() (*os.File, error) { return os.Open(filepath.Join(t.TempDir(), "missing")) }), fs.ErrNotExist)
}

func TestAClosedFolderIsAnError(t *testing.T) {
	folder, err := os.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, folder.Close())
	require.ErrorIs(t, Sync(func() (*os.File, error) { return folder, nil }), os.ErrClosed)
}

// A pipe refuses to be synced as the folders of some file systems do.
func TestWhatHasNothingToSyncIsSynced(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = writer.Close() }()
	require.Error(t, writer.Sync())
	require.NoError(t, Sync(func() (*os.File, error) { return reader, nil }))
}

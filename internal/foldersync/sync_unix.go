//go:build unix

// Package foldersync makes the names in a folder durable.
package foldersync

import (
	"errors"
	"os"
	"syscall"
)

// Sync makes the names in the folder that open opens durable. Some network and FUSE file systems refuse it for folders, which
// says that they have nothing to sync. On macOS it goes to the medium and not only to its cache, as Go's own Sync does there.
func Sync(open func() (*os.File, error)) error {
	folder, err := open()
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

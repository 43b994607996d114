// Package rooted opens the folders that a home keeps, so that no name and no link can lead out of the home, and makes the names in
// them durable.
package rooted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"session-sidecar/internal/foldersync"
	"session-sidecar/internal/home"
)

// Open opens a folder of a resolved home; nil where nothing has its name. A link that stays inside the home is followed; one that
// leaves it, or something that is no folder, is an error.
func Open(homeRoot *os.Root, homePath, name string) (*os.Root, error) {
	info, err := homeRoot.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		// The Root would refuse an absolute link even where it stays inside, so the way is resolved first; the Root
		// still refuses to leave the home if the link is replaced in between.
		target, err := filepath.EvalSymlinks(filepath.Join(homePath, name))
		if err != nil {
			return nil, err
		}
		if !home.Contains(homePath, target) {
			return nil, errors.New("it is a link that leads out of the home")
		}
		if name, err = filepath.Rel(homePath, target); err != nil {
			return nil, err
		}
	} else if !info.IsDir() {
		return nil, errors.New("it is not a folder")
	}
	return homeRoot.OpenRoot(name)
}

// Sync makes the names in a folder durable.
func Sync(root *os.Root) error {
	return foldersync.Sync(func() (*os.File, error) { return root.Open(".") })
}

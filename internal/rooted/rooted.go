// Package rooted keeps to the folders of a home: it opens and makes them so that no name and no link can lead out of the home, and writes
// files in them that are there whole or not at all.
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
func Open(homeRoot *os.Root, name string) (*os.Root, error) {
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
		homePath := homeRoot.Name()
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

// Make makes a missing folder of a resolved home durably, readable by its owner alone, and opens it. Where somebody else has made it
// meanwhile it is opened as by Open. created tells whether it was made here; after an error it was not.
func Make(homeRoot *os.Root, name string) (root *os.Root, created bool, err error) {
	err = homeRoot.Mkdir(name, 0o700)
	created = err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	root, err = Open(homeRoot, name)
	if err == nil && root == nil {
		err = fs.ErrNotExist // it went again
	}
	if err == nil {
		err = Sync(homeRoot)
	}
	if err == nil {
		return root, created, nil
	}
	if root != nil {
		_ = root.Close()
	}
	if created {
		_ = homeRoot.Remove(name) // it stays if somebody has put something into it, which does no harm
	}
	return nil, false, err
}

// Names lists a folder, in any order: there may be very many, of which few matter.
func Names(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return dir.Readdirnames(-1)
}

// Sync makes the names in a folder durable.
func Sync(root *os.Root) error {
	return foldersync.Sync(func() (*os.File, error) { return root.Open(".") })
}

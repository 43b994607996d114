package cleanup

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"session-sidecar/internal/home"
)

// walSuffix makes the name of the store's log from the store's. This package opens neither, and only looks at them from outside.
const walSuffix = "-wal"

// stamp is what tells two states of a file or a folder apart, without opening it.
type stamp struct {
	there    bool
	size     int64
	modified int64
	mode     fs.FileMode
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{true, info.Size(), info.ModTime().UnixNano(), info.Mode()}
}

func stampAt(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

// glance is what a home looks like from outside: enough to see whether a pass over it could find anything new.
type glance struct {
	there     bool
	folder    string // sessions/, resolved; empty where there is none that can be used
	folderAt  stamp
	manifests map[string]stamp
	store     stamp // state.db
	wal       stamp // state.db-wal
	why       error // why sessions/ cannot be used, though something of that name is there
	// sure says that the folder was listed after its stamp had been the same twice: file systems count time in steps, and a
	// change in the same step as the one before leaves no trace in the stamp.
	sure bool
}

// look takes a glance at a resolved home. Where an earlier glance is sure, and the folder's stamp says that no name came or
// went since, the folder is not listed again, only its manifests are looked at.
func look(homePath string, earlier glance) glance {
	info, err := os.Lstat(homePath)
	if err != nil || !info.IsDir() {
		return glance{}
	}
	g := glance{there: true}
	if path, err := filepath.EvalSymlinks(filepath.Join(homePath, home.StoreName)); err == nil && home.Contains(homePath, path) {
		g.store, g.wal = stampAt(path), stampAt(path+walSuffix)
	}
	folder, err := Open(homePath)
	if err != nil {
		g.why = err
		return g
	}
	defer folder.Close()
	if folder.root == nil {
		return g
	}
	if g.folder, err = filepath.EvalSymlinks(filepath.Join(homePath, FolderName)); err == nil {
		err = g.lookInto(folder, earlier)
	}
	if errors.Is(err, fs.ErrNotExist) { // it went since it was opened
		g.folder, g.folderAt, g.manifests = "", stamp{}, nil
	} else if err != nil {
		g.folder, g.why = "", err
	}
	return g
}

func (g *glance) lookInto(folder *Folder, earlier glance) error {
	info, err := folder.root.Lstat(".")
	if err != nil {
		return err
	}
	g.folderAt = stampOf(info)
	same := earlier.folder == g.folder && earlier.folderAt == g.folderAt
	g.sure = same
	names := maps.Keys(earlier.manifests)
	if !same || !earlier.sure {
		if names, err = folder.manifestNames(); err != nil {
			return err
		}
	}
	g.manifests = map[string]stamp{}
	for name := range names {
		if info, err := folder.root.Lstat(name); err == nil {
			g.manifests[name] = stampOf(info)
		}
	}
	return nil
}

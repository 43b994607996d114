// Package cleanup removes the files that deleted sessions leave in a home's sessions/ folder, and keeps the manifests
// that let it finish after a crash (contract 6). It knows nothing of stores: whoever calls it tells which ids are live.
package cleanup

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"slices"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
	"session-sidecar/internal/rooted"
)

// FolderName is where a home keeps its artifacts and manifests.
const FolderName = "sessions"

// Folder is a home's sessions/ folder, opened once for one operation: everything goes through its handle, so that no
// name, link or renamed folder can lead out of it. A missing folder is fine: it has no artifacts.
type Folder struct {
	home    *os.Root
	root    *os.Root // nil while sessions/ is missing
	created bool     // we made sessions/ in this operation

	spellings []string // of the home: resolved, and as a host named it
}

// Open opens sessions/ of a resolved home. A link that stays inside the home is followed; one that leaves it, or
// something that is no folder, is ErrUnusableFolder (contract 6.1). as is how a host named that home: rows may name files in
// that spelling too.
func Open(homePath string, as ...string) (*Folder, error) {
	homeRoot, err := os.OpenRoot(homePath)
	if err != nil {
		return nil, &Error{Kind: ErrUnusableFolder, Name: homePath, Cause: err}
	}
	f := &Folder{home: homeRoot, spellings: []string{homePath}}
	for _, name := range as {
		if spelling := home.AsNamed(name); spelling != "" {
			f.spellings = append(f.spellings, spelling)
		}
	}
	if f.root, err = rooted.Open(homeRoot, FolderName); err != nil {
		_ = homeRoot.Close()
		return nil, &Error{Kind: ErrUnusableFolder, Name: FolderName, Cause: err}
	}
	return f, nil
}

// Close gives the handles back.
func (f *Folder) Close() {
	if f.root != nil {
		_ = f.root.Close()
	}
	_ = f.home.Close()
}

// create makes a missing sessions/ durably, readable by its owner alone. The Agent may have made it since Open looked.
func (f *Folder) create() (err error) {
	if f.root == nil {
		f.root, f.created, err = rooted.Make(f.home, FolderName)
	}
	return err
}

// uncreate takes a sessions/ away again that create made for nothing, if nobody has put anything into it.
func (f *Folder) uncreate() {
	if !f.created {
		return
	}
	_ = f.root.Close()
	f.root = nil
	f.created = false
	_ = f.home.Remove(FolderName) // it stays if it is not empty, which does no harm
}

// manifestNames lists the manifests alone, in any order.
func (f *Folder) manifestNames() (iter.Seq[string], error) {
	names, err := rooted.Names(f.root)
	if err != nil {
		return nil, err
	}
	return slices.Values(slices.DeleteFunc(names, func(name string) bool { return !isManifest(name) })), nil
}

// unlink removes one artifact: a regular file, or a link itself and never what it points to. A folder or a device is no
// artifact and an error. One that is not there any more is fine.
func (f *Folder) unlink(name string) (removed bool, err error) {
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !removable(info.Mode()) {
		return false, errors.New("neither a regular file nor a link")
	}
	faultpoint.Hit(faultpoint.BeforeUnlink)
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	faultpoint.Hit(faultpoint.AfterUnlink)
	return true, nil
}

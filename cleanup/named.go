package cleanup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/rooted"
)

// Named is a file that rows of a store named (contract 5b.5): media by its absolute path, with the hash of what is in it; or
// spilled tool output by its path inside the home.
type Named struct {
	Path   string
	SHA256 string // empty for spilled tool output
}

// NamedState says what may become of such a file.
type NamedState int

// The states of such a file.
const (
	NamedStays     NamedState = iota // it is none that may go, or may not go yet: that is no failure
	NamedGone                        // it is not there any more
	NamedRemovable                   // it may go, as far as its file tells
	NamedUnknown                     // nobody could look, for a reason that passes: it may have to go
)

// namedFile is such a file, seen through a handle of its folder.
type namedFile struct {
	folder *os.Root // nil where it is not there or must not be used
	name   string
	state  NamedState
}

func (n namedFile) close() {
	if n.folder != nil {
		_ = n.folder.Close()
	}
}

func (f *Folder) openNamed(n Named) namedFile {
	if n.SHA256 == "" {
		return f.openSpilled(n.Path)
	}
	return f.openMedia(n)
}

// unseen is the state of a file that could not be looked at. Where nobody can tell, it stays; another look may find out.
func unseen(err error) NamedState {
	if passes(err) {
		return NamedUnknown
	}
	return NamedStays
}

// State tells what may become of a file that rows named.
func (f *Folder) State(n Named) NamedState {
	file := f.openNamed(n)
	file.close()
	return file.state
}

// Unlink removes a file if it still may go, and tells what has become of it. It is not certain to be gone until Sync says so:
// whoever holds a store's write lock has no time to wait for a disk. An error means that it had to go and did not.
func (f *Folder) Unlink(n Named) (NamedState, error) {
	file := f.openNamed(n)
	defer file.close()
	if file.state != NamedRemovable {
		return file.state, nil
	}
	if err := file.folder.Remove(file.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return NamedRemovable, err
	}
	faultpoint.Hit(faultpoint.MediaUnlinked)
	return NamedGone, nil
}

// Sync tells which of the files are gone for good, so that what names them may be forgotten, and of which that is not
// certain and why. Each folder is synced once. It ends early where the context does.
func (f *Folder) Sync(ctx context.Context, files []Named) (gone []Named, failed map[Named]error) {
	failed = map[Named]error{}
	synced := map[string]error{}
	for _, n := range files {
		if ctx.Err() != nil {
			break
		}
		file := f.openNamed(n)
		var err error
		if file.folder != nil && file.state == NamedGone {
			known := false
			if err, known = synced[filepath.Dir(n.Path)]; !known {
				err = rooted.Sync(file.folder)
				synced[filepath.Dir(n.Path)] = err
			}
		}
		file.close()
		switch {
		case err != nil:
			failed[n] = err
		case file.state == NamedGone:
			gone = append(gone, n)
		}
	}
	return gone, failed
}

package rooted

import (
	"errors"
	"io/fs"
	"os"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/randomhex"
)

// TemporarySuffix ends the name of a file that is not whole yet. What stands before it is the name that the file is to have, a point, and
// digits that nobody else has taken.
const TemporarySuffix = ".tmp"

// File is a file that is being written. Until Commit it has a temporary name, so that after a crash either the old file of its own name is
// there or all of the new one. End it with Commit or Discard.
type File struct {
	folder    *os.Root
	file      *os.File // nil once it is closed
	name      string
	temporary string // empty once it has its own name, or is gone
}

// Points are the instants of a Commit at which a test can end the process.
type Points struct {
	Written faultpoint.Point // the temporary file has its bytes, not synced
	Synced  faultpoint.Point // they are on the disk
	Named   faultpoint.Point // the file has its name; the folder is not synced
	Durable faultpoint.Point // the folder is synced
}

// Create begins a file that shall have this name in the folder, readable by its owner alone.
func Create(folder *os.Root, name string) (*File, error) {
	temporary := name + "." + randomhex.New(4) + TemporarySuffix
	file, err := folder.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{folder: folder, file: file, name: name, temporary: temporary}, nil
}

// Write adds bytes.
func (f *File) Write(data []byte) (int, error) { return f.file.Write(data) }

// Commit makes the bytes durable, gives the file its name, in the place of an older one, and makes that durable too. After an error no
// temporary file is left; named tells whether the file has its name all the same, which may not be for good.
func (f *File) Commit(at Points) (named bool, err error) {
	faultpoint.Hit(at.Written)
	err = errors.Join(f.file.Sync(), f.file.Close())
	f.file = nil
	if err == nil {
		faultpoint.Hit(at.Synced)
		err = f.folder.Rename(f.temporary, f.name)
	}
	if err != nil {
		return false, errors.Join(err, f.Discard())
	}
	f.temporary = ""
	faultpoint.Hit(at.Named)
	if err := Sync(f.folder); err != nil {
		return true, err
	}
	faultpoint.Hit(at.Durable)
	return true, nil
}

// Discard ends a file that was not committed, and leaves nothing of it. After that, and after Commit, it does nothing.
func (f *File) Discard() error {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
	if f.temporary == "" {
		return nil
	}
	err := f.folder.Remove(f.temporary)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	f.temporary = ""
	return err
}

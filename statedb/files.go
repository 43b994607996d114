package statedb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"session-sidecar/internal/home"
)

// This file looks at the files of a store. None is ever opened here: closing any descriptor of one drops all the process's POSIX locks
// on it, and another process's rows would be lost (contract 4).

// FileName is the store inside a home.
const FileName = home.StoreName

// Locate finds the store of a resolved home. A store that is not there is ErrMissing; a link that leads out of the home, or something
// that is no plain file, is ErrIO (contract 3.1).
func Locate(homePath string) (path string, err error) {
	path, err = filepath.EvalSymlinks(filepath.Join(homePath, FileName))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", &Error{Kind: ErrMissing}
	case err != nil:
		return "", &Error{Kind: ErrIO, Detail: "look for state.db", Cause: err}
	case !home.Contains(homePath, path):
		return "", &Error{Kind: ErrIO, Detail: "state.db is a link that leads out of the home"}
	}
	if _, err := lstatPlain(path); err != nil {
		return "", err
	}
	return path, nil
}

// lstatPlain looks at the file that a resolved path was found to lead to. A link that has taken its place since may lead anywhere.
func lstatPlain(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, &Error{Kind: ErrIO, Detail: "look at state.db", Cause: err}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Kind: ErrIO, Detail: "state.db is not a regular file"}
	}
	return info, nil
}

// lstatBeside looks at what SQLite opens beside a store. A FIFO would hold it for ever, and the home's locks with it.
func lstatBeside(path string) error {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		info, err := os.Lstat(path + suffix)
		if err == nil && !info.Mode().IsRegular() {
			return &Error{Kind: ErrIO, Detail: FileName + suffix + " is not a regular file"}
		}
	}
	return nil
}

// storeFile is a store's file as it was when it was opened.
type storeFile struct {
	path string
	info fs.FileInfo
}

func lookAtFile(path string) (storeFile, error) {
	info, err := lstatPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return storeFile{}, &Error{Kind: ErrMissing}
	}
	return storeFile{path, info}, err
}

// replaced tells whether the path leads to another file by now: changes to this one would be seen by nobody.
func (f storeFile) replaced() bool {
	now, err := lstatPlain(f.path)
	return err != nil || !os.SameFile(f.info, now)
}

// fileState is what can be seen of a file without opening it.
type fileState struct {
	info  fs.FileInfo // nil where there is none
	inode inodeState
}

// storeFiles looks at a store, its log and the log's index.
func storeFiles(storePath string) []fileState {
	var files []fileState
	for _, suffix := range []string{"", "-wal", "-shm"} {
		path := storePath + suffix
		info, err := os.Lstat(path)
		if err != nil {
			files = append(files, fileState{})
			continue
		}
		files = append(files, fileState{info, inodeOf(path)})
	}
	return files
}

// isThatOf tells whether it is still the same file, which the same people may write.
func (f fileState) isThatOf(then fileState) bool {
	if f.info == nil || then.info == nil {
		return f.info == nil && then.info == nil
	}
	return os.SameFile(f.info, then.info) && f.info.Mode() == then.info.Mode() && f.inode.owner == then.inode.owner
}

// isAsIn tells whether nobody has written into it, nor put its times back after that.
func (f fileState) isAsIn(then fileState) bool {
	if f.info == nil || then.info == nil {
		return f.info == nil && then.info == nil
	}
	return f.info.Size() == then.info.Size() && f.info.ModTime().Equal(then.info.ModTime()) && f.inode.changed == then.inode.changed
}

// walSize is the size of a store's log in bytes, 0 where there is none.
func walSize(path string) int64 {
	if size := sizeOf(path + "-wal"); size != nil {
		return *size
	}
	return 0
}

// sizeOf is the size of a file in bytes; nil where there is none.
func sizeOf(path string) *int64 {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	size := info.Size()
	return &size
}

// diskSize is what a store takes on the disk in bytes, its log included. A store that is not there is ErrMissing.
func diskSize(path string) (int64, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, &Error{Kind: ErrMissing}
	case err != nil:
		return 0, &Error{Kind: ErrIO, Detail: "look at state.db", Cause: err}
	}
	return info.Size() + walSize(path), nil
}

// Package newfile makes a file at a path that a person chose: it is there whole or not at all, and never takes the place of another. What a
// home keeps for itself is written by package rooted, which stays in a folder of the home and replaces.
package newfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/foldersync"
)

// ErrNotMade says that a file could not be made; then nothing of it is there, and what had its name is untouched.
var ErrNotMade = errors.New("the file cannot be made")

// Error tells which file, and what went wrong. Unwrap gives ErrNotMade and the cause.
type Error struct {
	Path  string
	Cause error
}

func (e *Error) Error() string {
	cause := e.Cause
	if path, is := errors.AsType[*fs.PathError](cause); is {
		cause = path.Err // its own path may be a temporary one
	}
	return fmt.Sprintf("%v: %s: %v", ErrNotMade, e.Path, cause)
}

func (e *Error) Unwrap() []error { return []error{ErrNotMade, e.Cause} }

// File is a file that is being written and has no name yet. End it with Commit or Discard.
type File struct {
	file *os.File
	path string
	// temporary is the name that the file has until then, where the system can make none without; else it is empty.
	temporary string
}

// Create begins a file that shall be at path, readable by its owner alone. A path that is taken, by anything, is
// an error at once; so is one whose folder is not there.
func Create(path string) (*File, error) {
	folder, err := Folder(path)
	if err != nil {
		return nil, err
	}
	resolved := filepath.Join(folder, filepath.Base(path))
	if _, err := os.Lstat(resolved); err == nil {
		return nil, &Error{Path: path, Cause: fs.ErrExist}
	}
	f := createNameless(folder, resolved)
	if f == nil {
		f, err = createTemporary(folder, resolved)
	}
	if err != nil {
		return nil, &Error{Path: path, Cause: err}
	}
	return f, nil
}

// Folder gives the resolved folder of a path. The folder is resolved as the system would: filepath.Dir would take
// "link/.." for the folder that holds the link.
func Folder(path string) (string, error) {
	folder, name := filepath.Split(path)
	if name == "" || name == "." || !filepath.IsLocal(name) {
		return "", &Error{Path: path, Cause: errors.New("it does not end with a name for a file")}
	}
	resolved, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", &Error{Path: path, Cause: err}
	}
	return resolved, nil
}

// createTemporary begins a file under a temporary name in the folder that it shall be in.
func createTemporary(folder, path string) (*File, error) {
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return nil, err
	}
	return &File{file: file, path: path, temporary: file.Name()}, nil
}

// Write adds bytes.
func (f *File) Write(data []byte) (int, error) {
	n, err := f.file.Write(data)
	if err != nil {
		err = &Error{Path: f.path, Cause: err}
	}
	return n, err
}

// Commit makes the bytes durable, gives the file its name if nothing has taken that meanwhile, and makes the name
// durable. After an error nothing of the file is there.
func (f *File) Commit() error {
	err := f.commit()
	f.Discard()
	if err != nil {
		return &Error{Path: f.path, Cause: err}
	}
	return nil
}

func (f *File) commit() error {
	if err := f.file.Sync(); err != nil {
		return err
	}
	faultpoint.Hit(faultpoint.ExportSynced)
	if err := f.takeName(); err != nil {
		return err
	}
	faultpoint.Hit(faultpoint.ExportNamed)
	if err := syncFolder(filepath.Dir(f.path)); err != nil {
		return errors.Join(err, os.Remove(f.path)) // a caller told of an error counts on nothing being there
	}
	return nil
}

func (f *File) takeName() error {
	if f.temporary == "" {
		return linkNameless(f.file, f.path)
	}
	if err := f.file.Close(); err != nil { // Windows moves no open file
		return err
	}
	f.file = nil
	if err := rename(f.temporary, f.path); err != nil {
		return err
	}
	f.temporary = ""
	return nil
}

// Discard ends a file that was not committed, and leaves nothing of it. After Commit, and on nil, it does nothing.
func (f *File) Discard() {
	if f == nil {
		return
	}
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
	if f.temporary != "" {
		_ = os.Remove(f.temporary)
		f.temporary = ""
	}
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	return foldersync.Sync(func() (*os.File, error) { return os.Open(path) })
}

package cleanup

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"session-sidecar/internal/home"
)

// errNotFollowed says that a folder on the way is a link or no folder: it may lead anywhere.
var errNotFollowed = errors.New("it is no plain folder")

// Spilled lists the spilled files, as paths inside the home with slashes, sorted: regular files directly in the folders. A
// folder that is not there, or that is a link, has none. An error tells which could not be listed; *Error with ErrNotListed,
// that another time it may be.
func (f *Folder) Spilled() (files []string, err error) {
	for _, folder := range home.SpillFolders {
		root, failure := f.openPlain(folder)
		if failure == nil {
			var names []string
			names, failure = regularFiles(root)
			for _, name := range names {
				files = append(files, folder+"/"+name)
			}
			_ = root.Close()
		}
		if errors.Is(failure, fs.ErrNotExist) || errors.Is(failure, errNotFollowed) {
			break // the next one lies in it
		}
		if passes(failure) {
			return nil, &Error{Kind: ErrNotListed, Name: folder, Cause: failure}
		}
		err = errors.Join(err, failure)
	}
	slices.Sort(files)
	return files, err
}

func regularFiles(root *os.Root) (names []string, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(-1)
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// openSpilled looks at a spilled file. A folder that is a link is not ours to look into, which is no failure.
func (f *Folder) openSpilled(file string) namedFile {
	if !isSpillPath(file) {
		return namedFile{state: NamedStays}
	}
	root, err := f.openPlain(path.Dir(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return namedFile{state: NamedGone}
	case err != nil:
		return namedFile{state: unseen(err)}
	}
	n := namedFile{folder: root, name: path.Base(file)}
	info, err := root.Lstat(n.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		n.state = NamedGone
	case err != nil:
		n.state = unseen(err)
	case info.Mode().IsRegular():
		n.state = NamedRemovable
	}
	return n
}

// isSpillPath tells whether a path is that of a file directly in one of the folders, on every system.
func isSpillPath(file string) bool {
	name := path.Base(file)
	return fs.ValidPath(file) && slices.Contains(home.SpillFolders, path.Dir(file)) && !strings.ContainsAny(name, "\\\x00") && canBeSpilled(name)
}

// openPlain opens a folder inside the home if nothing on the way to it is a link.
func (f *Folder) openPlain(folder string) (*os.Root, error) {
	name := ""
	for part := range strings.SplitSeq(folder, "/") {
		name = path.Join(name, part)
		info, err := f.home.Lstat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, errNotFollowed
		}
	}
	return f.home.OpenRoot(folder)
}

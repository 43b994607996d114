package cleanup

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/home"
	"session-sidecar/internal/lazyregexp"
	"session-sidecar/internal/links"
)

const (
	// mediaFolder holds a folder for each content, which has its hash for a name.
	mediaFolder = "native-inputs"

	// mediaAge is how long a file must have lain there: a younger one may belong to a request that is being written.
	mediaAge = time.Hour

	// mostLinks is how many links may lie on the way to a folder, as systems have it.
	mostLinks = 40
)

var contentHash = lazyregexp.New(`^[0-9a-f]{64}$`)

// openMedia looks at a media file. Only …/native-inputs/<its hash>/<name> inside this home is ours: a regular file with one
// name, older than an hour, which no link on the way leads out to.
func (f *Folder) openMedia(n Named) namedFile {
	if !isMediaPath(n.Path, n.SHA256) {
		return namedFile{state: NamedStays}
	}
	folder, ok := f.inside(filepath.Dir(n.Path))
	if !ok {
		return namedFile{state: NamedStays}
	}
	folder, state := f.follow(folder)
	if state != NamedRemovable {
		return namedFile{state: state}
	}
	// A link on the way may have led to another folder of this home.
	if !isMediaFolder(filepath.Join(f.home.Name(), folder), n.SHA256) {
		return namedFile{state: NamedStays}
	}
	root, err := f.home.OpenRoot(folder)
	if err != nil {
		return namedFile{state: unseen(err)}
	}
	m := namedFile{folder: root, name: filepath.Base(n.Path)}
	m.state = mediaState(root.Lstat(m.name))
	return m
}

func mediaState(info fs.FileInfo, err error) NamedState {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NamedGone
	case err != nil:
		return unseen(err)
	case !info.Mode().IsRegular(), links.Several(info), time.Since(info.ModTime()) <= mediaAge:
		return NamedStays
	}
	return NamedRemovable
}

// isMediaPath tells whether a path has the form of a media file of this content, without anything that has to be resolved.
func isMediaPath(path, sha256 string) bool {
	plain := filepath.IsAbs(path) && !strings.ContainsRune(path, 0) && filepath.Clean(path) == path
	return plain && isMediaFolder(filepath.Dir(path), sha256)
}

func isMediaFolder(path, sha256 string) bool {
	return contentHash().MatchString(sha256) && filepath.Base(path) == sha256 && filepath.Base(filepath.Dir(path)) == mediaFolder
}

// inside gives what is left of an absolute path below the home, by either of its names; of the home itself, a point. It asks
// the system nothing: a row must not make us look at what lies elsewhere.
func (f *Folder) inside(path string) (relative string, ok bool) {
	if !filepath.IsAbs(path) || home.GoesUp(path) {
		return "", false
	}
	for _, spelling := range f.spellings {
		if filepath.Clean(path) == spelling || home.Contains(spelling, path) {
			relative, err := filepath.Rel(spelling, path)
			return relative, err == nil
		}
	}
	return "", false
}

// follow resolves the way to a folder inside the home, link by link, and never looks outside. It is NamedRemovable where the
// folder is there, NamedGone where it is not; a way that leads out, or over a link that leads nowhere, is NamedStays; one that
// could not be looked at, NamedUnknown.
func (f *Folder) follow(way string) (folder string, state NamedState) {
	folder, left := ".", parts(way)
	linked := 0 // so many of the parts that are left come from a link
	for followed := 0; len(left) > 0; {
		part, fromLink := left[0], linked > 0
		left, linked = left[1:], max(0, linked-1)
		if part == ".." {
			if folder == "." {
				return "", NamedStays
			}
			folder = filepath.Dir(folder)
			continue
		}
		next := filepath.Join(folder, part)
		info, err := f.home.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !fromLink:
			return "", NamedGone
		case err != nil:
			return "", unseen(err)
		case info.IsDir():
			folder = next
			continue
		case info.Mode()&fs.ModeSymlink == 0 || followed == mostLinks:
			return "", NamedStays
		}
		followed++
		target, err := f.home.Readlink(next)
		if err != nil {
			return "", unseen(err)
		}
		if filepath.IsAbs(target) {
			inside, ok := f.inside(target)
			if !ok {
				return "", NamedStays
			}
			folder, target = ".", inside
		}
		before := parts(target)
		left, linked = slices.Concat(before, left), linked+len(before)
	}
	return folder, NamedRemovable
}

func parts(way string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(way), "/"), func(part string) bool { return part == "" || part == "." })
}

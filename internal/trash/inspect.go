package trash

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
)

// Inspection is how a home's trash was found; nothing was changed.
type Inspection struct {
	Entries    int      // files that have the name of an entry
	Bytes      int64    // of all of those
	Headers    []Header // of those that can be restored, as far as they were read
	Unreadable []string // names of those that cannot, sorted
	Unfinished []string // names of what is being written, or was never finished, sorted
	Exposed    []string // what others than its owner may read or write, where the system tells: the folder, by its name, and entries
}

// Inspect reads every entry to its end, and from the context's deadline on only the first line of each. What goes meanwhile is left out.
// Errors are ErrUnusable where the folder cannot be listed, or that of a cancel, and then there is nothing to tell; and that of the
// deadline, where some of the entries were not read to their end.
func (f *Folder) Inspect(ctx context.Context) (*Inspection, error) {
	found := &Inspection{}
	if f.root == nil {
		return found, nil
	}
	names, err := f.Names()
	if err != nil {
		return nil, err
	}
	if info, err := f.root.Lstat("."); err == nil && isExposed(info) {
		found.Exposed = append(found.Exposed, FolderName)
	}
	for _, name := range names {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // nobody waits any more for so much as the first lines
		}
		operation, is := operationOf(name)
		switch {
		case is:
			f.inspectEntry(ctx, found, operation)
		case isTemporary(name):
			found.Unfinished = append(found.Unfinished, name)
		}
	}
	return found, ctx.Err()
}

func (f *Folder) inspectEntry(ctx context.Context, found *Inspection, operation string) {
	info, err := f.root.Lstat(Name(operation))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	found.Entries++
	if err == nil {
		found.Bytes += info.Size()
		if isExposed(info) {
			found.Exposed = append(found.Exposed, Name(operation))
		}
	}
	header, err := f.inspectText(ctx, operation)
	if err != nil {
		found.Unreadable = append(found.Unreadable, Name(operation))
		return
	}
	found.Headers = append(found.Headers, header)
}

// inspectText tells what an entry says of itself, if all of it can be read, as far as there is time for that.
func (f *Folder) inspectText(ctx context.Context, operation string) (Header, error) {
	if ctx.Err() == nil {
		entry, err := f.Check(ctx, operation)
		if err == nil || ctx.Err() == nil {
			return entry.Header, err
		}
	}
	return f.header(operation)
}

// isExposed tells whether others than its owner may do anything with a file or a folder. Windows has no such modes.
func isExposed(info fs.FileInfo) bool {
	own := info.Mode().IsRegular() || info.IsDir()
	return own && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows"
}

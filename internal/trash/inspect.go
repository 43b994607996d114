package trash

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
)

// Inspection is how a home's trash was found; nothing was changed.
type Inspection struct {
	Entries    int      // files that have the name of an entry
	Bytes      int64    // of all of those
	Headers    []Header // of those that can be restored, as far as they were read; without titles and ids
	Unreadable []string // names of those that cannot, sorted
	Unfinished []string // names of what is being written, or was never finished, sorted
	Exposed    []string // what others than its owner may read or write, where the system tells: the folder, by its name, and entries
}

// Inspect counts the entries, reads the first line of each, then each to its end, and opens none once the context has ended. What goes
// meanwhile is left out. Errors are ErrUnusable where the folder cannot be listed, or that of a cancel, and then there is nothing to tell;
// and that of the deadline, where some of the entries were not read, or not to their end.
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
	var begun []begunEntry
	for _, name := range names {
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // nobody waits any more
		}
		operation, is := OperationOf(name)
		switch {
		case is:
			if entry, ok := f.inspectEntry(ctx, found, operation); ok {
				begun = append(begun, entry)
			}
		case isTemporary(name):
			found.Unfinished = append(found.Unfinished, name)
		}
	}
	for _, entry := range begun {
		if ctx.Err() == nil {
			_, err := f.Check(ctx, entry.header.OperationID)
			if ctx.Err() == nil && found.fails(entry.header.OperationID, entry.bytes, err) {
				continue
			}
		}
		found.Headers = append(found.Headers, entry.header)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err()
	}
	slices.Sort(found.Unreadable)
	return found, ctx.Err()
}

// begunEntry is an entry whose first line can be read.
type begunEntry struct {
	header Header
	bytes  int64 // of the file
}

// inspectEntry looks at one entry and its first line, which tells when its time is over: there may be none for the rest.
func (f *Folder) inspectEntry(ctx context.Context, found *Inspection, operation string) (entry begunEntry, ok bool) {
	info, err := f.root.Lstat(Name(operation))
	if errors.Is(err, fs.ErrNotExist) {
		return entry, false
	}
	found.Entries++
	if err == nil {
		entry.bytes = info.Size()
		found.Bytes += entry.bytes
		if isExposed(info) {
			found.Exposed = append(found.Exposed, Name(operation))
		}
	}
	if ctx.Err() != nil {
		return entry, false
	}
	entry.header, err = f.header(ctx, operation)
	if ctx.Err() != nil || found.fails(operation, entry.bytes, err) {
		return entry, false
	}
	entry.header.Title, entry.header.DeletedIDs = "", nil // of many entries they would fill the memory
	return entry, true
}

// fails tells whether an entry could not be read, and notes it, if it has not gone meanwhile.
func (i *Inspection) fails(operation string, bytes int64, err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, ErrNotFound):
		i.Entries--
		i.Bytes -= bytes
	default:
		i.Unreadable = append(i.Unreadable, Name(operation))
	}
	return true
}

// isExposed tells whether others than its owner may do anything with a file or a folder. Windows has no such modes.
func isExposed(info fs.FileInfo) bool {
	own := info.Mode().IsRegular() || info.IsDir()
	return own && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows"
}

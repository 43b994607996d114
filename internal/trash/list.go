package trash

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Listing is what a home's trash holds.
type Listing struct {
	Entries    []Entry  // the newest first, those of one instant by operation id
	Unreadable []string // names of entries that cannot be restored, sorted; what is no entry by its name is not ours
}

// Checker remembers which entries have been read to their end, so that a list need not read them again. The zero value is ready.
type Checker struct {
	mu   sync.Mutex
	seen map[checkKey]Entry
}

type checkKey struct {
	home, name string
	size       int64
	modified   time.Time
}

// List reads every entry to its end, or remembers that it did: one that is cut off, damaged, or cannot be read is unreadable (contract
// 10.4). What is no entry by its name was not written by us: it is not looked at, and not told of. Only a fault of the folder, or a
// cancel, ends the list.
func (c *Checker) List(ctx context.Context, f *Folder, homePath string) (Listing, error) {
	operations, err := f.operations()
	if err != nil {
		return Listing{}, err
	}
	var listing Listing
	for _, operation := range operations {
		entry, err := c.check(ctx, f, homePath, operation)
		switch {
		case err == nil:
			listing.Entries = append(listing.Entries, entry)
		case errors.Is(err, ErrNotFound): // gone meanwhile
		case ctx.Err() != nil:
			return Listing{}, ctx.Err()
		default:
			listing.Unreadable = append(listing.Unreadable, Name(operation))
		}
	}
	slices.SortStableFunc(listing.Entries, func(a, b Entry) int { return cmp.Compare(b.DeletedAt, a.DeletedAt) })
	return listing, nil
}

func (c *Checker) check(ctx context.Context, f *Folder, homePath, operation string) (Entry, error) {
	info, err := f.root.Lstat(operation + suffix)
	if err != nil {
		return f.read(ctx, operation, nil)
	}
	key := checkKey{homePath, operation, info.Size(), info.ModTime()}
	c.mu.Lock()
	entry, known := c.seen[key]
	c.mu.Unlock()
	if known && info.Mode().IsRegular() && !f.isStore(info) {
		return entry, nil
	}
	if entry, err = f.read(ctx, operation, nil); err != nil {
		return Entry{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) > 10_000 {
		c.seen = map[checkKey]Entry{}
	}
	c.seen[key] = entry
	return entry, nil
}

// Headers reads the first line of each entry. What cannot be read is left out.
func (f *Folder) Headers() (headers []Header, err error) {
	operations, err := f.operations()
	if err != nil {
		return nil, err
	}
	for _, operation := range operations {
		if header, err := f.header(context.Background(), operation); err == nil {
			headers = append(headers, header)
		}
	}
	return headers, nil
}

func (f *Folder) header(ctx context.Context, operation string) (Header, error) {
	file, _, err := f.open(operation + suffix)
	if err != nil {
		return Header{}, err
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return Header{}, err
	}
	return readHeader(&lineReader{ctx: ctx, from: bufio.NewReader(zip)}, operation)
}

// Read hands every row of an entry to use, one after the other, before it is known whether the rest is whole. Errors are ErrNotFound,
// ErrDamaged, ErrUnusable, and what use gives.
func (f *Folder) Read(ctx context.Context, operation string, use func(Row) error) error {
	_, err := f.read(ctx, operation, use)
	return err
}

// Check reads an entry to its end and tells what it says of itself. Errors are as those of Read, and the context's.
func (f *Folder) Check(ctx context.Context, operation string) (Entry, error) {
	return f.read(ctx, operation, nil)
}

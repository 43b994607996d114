package trash

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"session-sidecar/internal/links"
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

// List reads every entry to its end, or remembers that it did: one that is cut off or damaged is unreadable (contract 10.4). What is
// no entry by its name was not written by us: it is not looked at, and not told of.
func (c *Checker) List(f *Folder, homePath string) (Listing, error) {
	names, err := f.names()
	if err != nil {
		return Listing{}, err
	}
	var listing Listing
	for _, name := range names {
		operation, is := strings.CutSuffix(name, suffix)
		if !is || !operationID.MatchString(operation) {
			continue
		}
		entry, err := c.check(f, homePath, operation)
		switch {
		case err == nil:
			listing.Entries = append(listing.Entries, entry)
		case errors.Is(err, ErrNotFound): // gone meanwhile
		case errors.Is(err, ErrDamaged):
			listing.Unreadable = append(listing.Unreadable, name)
		default:
			return Listing{}, err
		}
	}
	slices.SortStableFunc(listing.Entries, func(a, b Entry) int { return cmp.Compare(b.DeletedAt, a.DeletedAt) })
	return listing, nil
}

func (c *Checker) check(f *Folder, homePath, operation string) (Entry, error) {
	info, err := f.root.Lstat(operation + suffix)
	if err != nil {
		return f.read(operation, ignore)
	}
	key := checkKey{homePath, operation, info.Size(), info.ModTime()}
	c.mu.Lock()
	entry, known := c.seen[key]
	c.mu.Unlock()
	if known && info.Mode().IsRegular() && !links.Several(info) {
		return entry, nil
	}
	if entry, err = f.read(operation, ignore); err != nil {
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
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		operation, is := strings.CutSuffix(name, suffix)
		if !is || !operationID.MatchString(operation) {
			continue
		}
		if header, err := f.header(operation); err == nil {
			headers = append(headers, header)
		}
	}
	return headers, nil
}

func (f *Folder) header(operation string) (Header, error) {
	file, _, err := f.open(operation + suffix)
	if err != nil {
		return Header{}, err
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return Header{}, err
	}
	return readHeader(&lineReader{from: bufio.NewReader(zip)}, operation)
}

func ignore(Row) error { return nil }

// Read hands every row of an entry to use, one after the other, before it is known whether the rest is whole. Errors are ErrNotFound,
// ErrDamaged, ErrUnusable, and what use gives.
func (f *Folder) Read(operation string, use func(Row) error) error {
	_, err := f.read(operation, use)
	return err
}

// Check reads an entry to its end and tells what it says of itself. Errors are as those of Read.
func (f *Folder) Check(operation string) (Entry, error) { return f.read(operation, ignore) }

package trash

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/home"
	"session-sidecar/internal/links"
	"session-sidecar/internal/operationid"
)

// Entry is what an entry says of itself.
type Entry struct {
	Header
	Bytes    int64    // of the file
	Sessions []string // those of the deleted ids that it has rows of, sorted
}

// Seconds spells a moment as an entry does: in seconds since 1970, to the microsecond.
func Seconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }

// Until is when an entry goes for good.
func (h Header) Until() time.Time { return time.UnixMicro(int64(h.KeepUntil * 1e6)) }

// Expired tells whether an entry has been kept for as long as was asked.
func (h Header) Expired(now time.Time) bool { return !now.Before(h.Until()) }

// farthest is the end of the year 9999: no entry is kept for longer.
const farthest = 253402300800

// What a line may have, written or read. A row is bounded by SQLite; what is spelled longer is not kept at all.
const (
	maxLine   = 128 << 20
	maxHeader = 16 << 20 // 40,000 ids of 128 characters are a third of it
	maxCount  = 1 << 53  // what every reader of JSON can count to
)

// What is written with more than it may have could not be read again.
var (
	errTooLong    = errors.New("it has a row of more than 128 MiB, which could not be read again")
	errLongHeader = errors.New("it has too many ids to be read again")
)

// read reads an entry from its first line to its last and hands each row to use, where there is one. Anything but what Writer writes is
// ErrDamaged; an entry that is not there is ErrNotFound. Memory holds one line, and its row twice where it is used. A cancel is heard.
func (f *Folder) read(ctx context.Context, operation string, use func(Row) error) (Entry, error) {
	if f.root == nil || !operationid.Is(operation) {
		return Entry{}, &Error{Kind: ErrNotFound, Name: operation}
	}
	name := operation + suffix
	file, size, err := f.open(name)
	if err != nil {
		return Entry{}, err
	}
	defer func() { _ = file.Close() }()
	raw := bufio.NewReaderSize(file, 64<<10)
	zip, err := gzip.NewReader(raw)
	if err != nil {
		return Entry{}, damagedOr(name, err)
	}
	zip.Multistream(false) // what follows is none of it
	lines := &lineReader{ctx: ctx, from: bufio.NewReaderSize(zip, 64<<10)}
	header, err := readHeader(lines, operation)
	if err != nil {
		return Entry{}, damagedOr(name, err)
	}
	members := members{of: map[string]bool{}, there: map[string]bool{}}
	for _, id := range header.DeletedIDs {
		members.of[id] = true
	}
	err = readRows(lines, members.check, use)
	if err == nil && len(members.there) == 0 {
		err = errors.New("it holds no session")
	}
	if err == nil {
		err = ended(raw)
	}
	if err != nil {
		if used, is := errors.AsType[*useError](err); is {
			return Entry{}, used.err
		}
		return Entry{}, damagedOr(name, err)
	}
	return Entry{Header: header, Bytes: size, Sessions: slices.Sorted(maps.Keys(members.there))}, nil
}

// open opens a file that holds an entry and nothing else.
func (f *Folder) open(name string) (*os.File, int64, error) {
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, &Error{Kind: ErrNotFound, Name: strings.TrimSuffix(name, suffix)}
	}
	if err != nil {
		return nil, 0, unusable(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, damaged(name, errors.New("it is not a regular file"))
	}
	if f.isStore(info) {
		return nil, 0, damaged(name, errors.New("it is a file of the store"))
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, 0, unusable(name, err)
	}
	return file, info.Size(), nil
}

// isStore tells whether a file is one that SQLite has open: to close a descriptor of that would take its locks away. A backup may well
// have given an entry a second name.
func (f *Folder) isStore(info fs.FileInfo) bool {
	if !links.Several(info) {
		return false
	}
	paths := []string{filepath.Join(f.home.Name(), home.StoreName)}
	if target, err := filepath.EvalSymlinks(paths[0]); err == nil {
		paths = append(paths, target)
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		return slices.ContainsFunc([]string{"", "-wal", "-shm", "-journal"}, func(suffix string) bool {
			other, err := os.Lstat(path + suffix)
			return err == nil && os.SameFile(info, other)
		})
	})
}

// damagedOr tells a file that says something else from a disk that says nothing.
func damagedOr(name string, err error) error {
	_, ofSystem := errors.AsType[*fs.PathError](err)
	switch {
	case ofSystem:
		return unusable(name, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return damaged(name, err)
}

func readHeader(lines *lineReader, operation string) (h Header, err error) {
	line, err := lines.next(maxHeader)
	if err != nil {
		return h, err
	}
	if !strictly(line, &h) {
		return h, errors.New("the header is none")
	}
	return h, h.check(operation)
}

// check holds a header to what one may say, read or written.
func (h Header) check(operation string) error {
	switch {
	case h.Format != Format:
		return fmt.Errorf("its format is %d", h.Format)
	case h.OperationID != operation:
		return errors.New("the header names another operation")
	case len(h.DeletedIDs) == 0, h.DeletedAt < 0, h.KeepUntil < h.DeletedAt, h.KeepUntil > farthest, h.MessageCount < 0, int64(h.MessageCount) > maxCount:
		return errors.New("the header says nothing that could be")
	}
	return nil
}

// members are the sessions that an entry has rows of, so far.
type members struct {
	of    map[string]bool
	there map[string]bool
}

// check tells whether a row belongs to what was deleted: to a session of it, whose row came before.
func (m members) check(row spelledRow) error {
	switch row.table {
	case "sessions":
		id, known := row.text("id")
		if !known || m.there[id] || !m.of[id] {
			return errors.New("it is a session that was not deleted")
		}
		m.there[id] = true
	case "system_prompts": // of whom it is, no entry tells
	default:
		if id, known := row.text("session_id"); !known || !m.there[id] {
			return errors.New("it belongs to a session that was not deleted")
		}
	}
	return nil
}

func readRows(lines *lineReader, check func(spelledRow) error, use func(Row) error) error {
	for {
		line, err := lines.next(maxLine)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(`{"lines":`)) {
			return readEnd(lines, line)
		}
		spelled, err := parseRow(line)
		if err == nil {
			err = check(spelled)
		}
		var row Row
		if err == nil && use != nil {
			row, err = spelled.row()
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", lines.read, err)
		}
		if use == nil {
			continue
		}
		if err := use(row); err != nil {
			return &useError{err}
		}
	}
}

// readEnd checks the last line, and that there is nothing behind it; the checksum is read with that.
func readEnd(lines *lineReader, line []byte) error {
	var e end
	if !strictly(line, &e) {
		return errors.New("the last line is none")
	}
	if e.Lines != lines.read-1 {
		return fmt.Errorf("it has %d lines and not %d", lines.read-1, e.Lines)
	}
	return ended(lines.from)
}

func ended(from *bufio.Reader) error {
	if _, err := from.ReadByte(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("it goes on behind its end")
		}
		return err
	}
	return nil
}

// useError is an error of whoever reads, which is no damage.
type useError struct{ err error }

func (e *useError) Error() string { return e.err.Error() }

// lineReader reads lines of bounded length.
type lineReader struct {
	ctx  context.Context
	from *bufio.Reader
	read int
	line []byte
}

// next gives the next line; it is good until the one after it is asked for.
func (l *lineReader) next(limit int) ([]byte, error) {
	l.line = l.line[:0]
	for {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		part, err := l.from.ReadSlice('\n')
		if need := len(l.line) + len(part); need > cap(l.line) { // twice as much each time leaves the least behind
			l.line = append(make([]byte, 0, max(need, min(2*cap(l.line), limit+1))), l.line...)
		}
		l.line = append(l.line, part...)
		switch {
		case len(l.line) > limit:
			return nil, errTooLong
		case err == nil:
			l.read++
			return l.line[:len(l.line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) {
				err = errors.New("it is cut off")
			}
			return nil, err
		}
	}
}

// strictly decodes one JSON object and nothing else. What is wrong is not told: it would quote what was deleted.
func strictly(line []byte, into any) bool {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if decoder.Decode(into) != nil {
		return false
	}
	_, err := decoder.Token()
	return errors.Is(err, io.EOF)
}

package trash

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/rooted"
)

// Format is the version of an entry.
const Format = 1

// Header is the first line of an entry.
type Header struct {
	Format       int      `json:"format"`
	OperationID  string   `json:"operation_id"`
	DeletedAt    float64  `json:"deleted_at"` // seconds since 1970
	KeepUntil    float64  `json:"keep_until"` // likewise
	DeletedIDs   []string `json:"deleted_ids"`
	Title        string   `json:"title"`
	MessageCount int      `json:"message_count"`
}

// end is the last line: how many lines there are before it, the header included. Without it an entry is cut off.
type end struct {
	Lines int `json:"lines"`
}

// Writer writes one entry, streamed. Rows come by Write, a line each. Nothing has the entry's name before Commit.
type Writer struct {
	folder  *Folder
	name    string
	file    *rooted.File
	out     *bufio.Writer
	zip     *gzip.Writer
	lines   int
	length  int // of the line that is being written
	longest int // of those that were
	named   bool
}

// Begin begins an entry. Errors are ErrUnusable or ErrUnkeepable; then nothing of it is there.
func (f *Folder) Begin(header Header) (*Writer, error) {
	if err := f.create(); err != nil {
		return nil, unusable(FolderName, err)
	}
	name := Name(header.OperationID)
	file, err := rooted.Create(f.root, name)
	if err != nil {
		return nil, unusable(FolderName, err)
	}
	w := &Writer{folder: f, name: name, file: file}
	w.out = bufio.NewWriterSize(file, 64<<10)
	w.zip = gzip.NewWriter(w.out)
	header.Format = Format
	header.Title = cut(header.Title)
	if err = header.check(header.OperationID); err == nil {
		err = w.line(header)
	}
	if err == nil && w.longest >= maxHeader {
		err = unkeepable(w.name, errLongHeader)
	}
	if err != nil {
		w.Discard()
		if !errors.Is(err, ErrUnkeepable) {
			err = unusable(w.name, err)
		}
		return nil, err
	}
	return w, nil
}

// longestTitle is how much of a title a header has, in characters.
const longestTitle = 1000

// cut shortens a title: the rest is in the row of its session.
func cut(title string) string {
	n := 0
	for i := range title {
		if n++; n > longestTitle {
			return title[:i]
		}
	}
	return title
}

func (w *Writer) line(value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Write takes lines of JSON, whole or in parts. One that could not be read again is ErrUnkeepable.
func (w *Writer) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		line, after, ends := bytes.Cut(rest, []byte{'\n'})
		w.length += len(line)
		w.longest = max(w.longest, w.length)
		if w.longest >= maxLine {
			return 0, unkeepable(w.name, errTooLong)
		}
		if rest = after; ends {
			w.lines++
			w.length = 0
		}
	}
	return w.zip.Write(data)
}

// Commit gives the entry its name, durably: it must be there before the rows are gone for good. An older one of the same name is
// replaced. Errors are ErrUnusable; then nothing of this one is there.
func (w *Writer) Commit() error {
	err := w.commit()
	if err != nil {
		w.Discard()
		return unusable(w.name, err)
	}
	return nil
}

func (w *Writer) commit() error {
	if err := w.line(end{w.lines}); err != nil {
		return err
	}
	err := errors.Join(w.zip.Close(), w.out.Flush())
	if err == nil {
		w.named, err = w.file.Commit(rooted.Points{
			Written: faultpoint.TrashWritten, Synced: faultpoint.TrashSynced, Named: faultpoint.TrashNamed, Durable: faultpoint.TrashDurable,
		})
	}
	return err
}

// Discard removes what was written, for a delete that was certainly not done. After an error the entry is the trace of a delete
// that never happened, and goes later (contract 10.2).
func (w *Writer) Discard() {
	_ = w.file.Discard()
	if w.named {
		_ = w.folder.root.Remove(w.name)
		w.named = false
	}
	_ = rooted.Sync(w.folder.root)
}

// Failure is the error of a row that could not be written: where the disk is at fault it says so, and where the row is, whatever else
// is made of that on the way here.
func (w *Writer) Failure(err error) error {
	if ours, is := errors.AsType[*Error](err); is {
		return ours
	}
	if _, is := errors.AsType[*fs.PathError](err); is {
		return unusable(w.name, err)
	}
	return err
}

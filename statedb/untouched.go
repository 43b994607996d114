package statedb

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A reader of a store with a log makes the log and the log's index where they are not there, and writes into the index where
// they are. This file opens a store for somebody who may not do even that.

// way is how a store is looked at so that nothing of it, nor beside it, is made or written.
type way int

const (
	wayBeside way = iota // through the log and its index, as others do, but without writing into the index
	wayPlain             // a store without a log is only ever read by a reader
	wayAlone             // nobody has it open: its own file is all there is. What was read counts if that is so afterwards too
	wayCopy              // the log holds something, and there is no index to read it by, or a journal is to be rolled back: a copy gets that
	wayEmpty             // no byte is in it. SQLite would take its log away
)

// chooseWay decides by what lies there. hasLog tells whether the store is of the kind that has a log, and is asked only where none
// is there.
func chooseWay(files []fileState, hasLog func() (bool, error)) (way, error) {
	store, log, index := files[0].info, files[1].info, files[2].info
	switch {
	case store == nil:
		return 0, &Error{Kind: ErrMissing}
	case store.Size() == 0:
		return wayEmpty, nil
	case log == nil:
		with, err := hasLog()
		if err != nil || !with {
			return wayPlain, err
		}
		return wayAlone, nil
	case index != nil && index.Size() > 0:
		return wayBeside, nil
	case log.Size() == 0:
		return wayAlone, nil
	}
	return wayCopy, nil
}

// untouched is a connection to one snapshot of a store that leaves no trace.
type untouched struct {
	*conn       // nil for an empty store
	way    way  // by which it was opened
	hasLog bool // the store is of the kind that has a log
	before []fileState
	path   string
	copied string // the folder of a copy that is read in the store's place
}

// openUntouched opens a store, waiting for as long as a look may where another process is in the way. A copy is made of the files
// themselves, so no connection of this process may be open: closing a file would take its locks away.
func openUntouched(ctx context.Context, path string) (*untouched, error) {
	const tries = 5 // each of which somebody may disturb who opens the store for the first time, or closes it for the last
	for try := 1; ; try++ {
		var u *untouched
		err := whileBusy(ctx, LookPatience, func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			u, err = tryUntouched(ctx, path)
			return err
		})
		if err == nil || try == tries || ctx.Err() != nil || u.sameFiles() && u.holds() {
			return u, classify("look at the store", err)
		}
	}
}

// sameFiles tells whether the store, its log and its index are there, or not, as they were.
func (u *untouched) sameFiles() bool {
	for i, now := range storeFiles(u.path) {
		if (now.info == nil) != (u.before[i].info == nil) {
			return false
		}
	}
	return true
}

func tryUntouched(ctx context.Context, path string) (u *untouched, err error) {
	u = &untouched{path: path, before: storeFiles(path)}
	if err := lstatBeside(path); err != nil { // a copy would read what a link leads to
		return u, err
	}
	defer func() {
		if err != nil {
			u.close()
		}
	}()
	if u.way, err = chooseWay(u.before, func() (bool, error) { return hasLog(ctx, path) }); err != nil {
		return u, err
	}
	u.hasLog = u.way != wayPlain && u.way != wayEmpty
	err = u.begin(ctx)
	if _, extended, known := resultCodes(err); known && extended == codeRollback && u.way == wayPlain {
		// A writer ended half-way, and the next one rolls that back. Until then only a copy can be read.
		u.close()
		u.way = wayCopy
		err = u.begin(ctx)
	}
	return u, err
}

// begin opens the store by the chosen way and makes the snapshot, which the first thing that is read does.
func (u *untouched) begin(ctx context.Context) (err error) {
	switch u.way {
	case wayEmpty:
		return nil
	case wayBeside, wayPlain:
		u.conn, err = open(ctx, u.path, readBeside)
	case wayAlone:
		u.conn, err = open(ctx, u.path, readAlone)
	case wayCopy:
		if err = u.makeCopy(ctx); err == nil {
			u.conn, err = open(ctx, filepath.Join(u.copied, FileName), readWrite)
		}
	}
	if err != nil {
		return err
	}
	if _, err := u.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	return u.readFirst(ctx)
}

// readFirst reads something that every database has.
func (c *conn) readFirst(ctx context.Context) error {
	return c.each(ctx, func(scanFunc) error { return nil }, "SELECT 1 FROM sqlite_schema LIMIT 1")
}

// hasLog tells whether a store is of the kind that has a log. SQLite refuses to open such a one where it may not lock it. Nothing is
// made by that; a store that cannot be opened for another reason is told of by the next one who tries.
func hasLog(ctx context.Context, path string) (bool, error) {
	c, err := open(ctx, path, readProbe)
	if err == nil {
		defer c.close()
		err = c.readFirst(ctx)
	}
	primary, _, known := resultCodes(err)
	if known && primary == codeCannotOpen {
		return true, nil
	}
	if known {
		return false, nil
	}
	return false, err
}

// holds tells whether what was read is what the store holds. Of a store that was read as if it were alone, that is so if nobody has
// written into it meanwhile.
func (u *untouched) holds() bool {
	if u.way != wayAlone && u.way != wayCopy {
		return true
	}
	for i, now := range storeFiles(u.path) {
		if !now.isAsIn(u.before[i]) {
			return false
		}
	}
	return true
}

func (u *untouched) close() {
	u.conn.close()
	u.conn = nil
	if u.copied != "" {
		_ = os.RemoveAll(u.copied)
	}
}

// makeCopy copies the store and its log or journal into a folder for us alone.
func (u *untouched) makeCopy(ctx context.Context) (err error) {
	if u.copied, err = os.MkdirTemp("", "sidecar-doctor-"); err != nil {
		return &Error{Kind: ErrIO, Detail: "make a folder for a copy", Cause: err}
	}
	for _, suffix := range []string{"-journal", "", "-wal"} { // the journal before what it rolls back
		err := copyFile(ctx, filepath.Join(u.copied, FileName+suffix), u.path+suffix)
		if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return &Error{Kind: ErrIO, Detail: "copy the store to look at it", Cause: err}
		}
	}
	return nil
}

func copyFile(ctx context.Context, to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, cancellable{ctx, source})
	return errors.Join(err, target.Close())
}

// cancellable is a reader that a cancel ends.
type cancellable struct {
	ctx  context.Context
	from io.Reader
}

func (c cancellable) Read(into []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.from.Read(into)
}

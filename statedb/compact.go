package statedb

import (
	"context"
	"time"

	"session-sidecar/internal/faultpoint"
)

// CompactPhase is a part of a compact.
type CompactPhase string

// The phases, in their order.
const (
	PhaseVacuum     CompactPhase = "vacuum"     // the store is rewritten into its log, -wal
	PhaseCheckpoint CompactPhase = "checkpoint" // the log is moved into the store's file
)

// CompactProgress is how far a phase is.
type CompactProgress struct {
	Phase CompactPhase
	Bytes int64 // as far as the size of -wal shows it
	Of    int64
}

// Compacted is what a compact has done. Its sizes are those of the file and its -wal together, on the disk.
type Compacted struct {
	BytesBefore, BytesAfter int64
	// WALTruncated tells whether the log was moved over whole. Somebody who reads an older state stops that; then the
	// file shrinks when SQLite does it later.
	WALTruncated bool
}

// watchEvery is how often the -wal is looked at while SQLite works.
const watchEvery = 250 * time.Millisecond

// Compact gives a store's free pages back (contract 5d). It waits for nobody: a process that holds the write lock is
// ErrBusy at once. A cancel is heard while VACUUM builds the new copy, and leaves the store as it was; once that goes
// to the log, SQLite hears nothing and finishes.
//
// VACUUM is safe beside connections of an Agent that are open: it is one write transaction, which in WAL mode goes to
// the log as any other. Who reads goes on in the snapshot that it has and finds the new pages, with the same rows, when it
// looks anew; who writes in between finds the lock taken, as behind any other writer. Keys stay, those of messages and
// of the indexes over them included: they are INTEGER PRIMARY KEYs, the kind of row id that VACUUM keeps. It opens no
// virtual table, so an index whose tokenizer this build lacks does no harm. It needs free space for two copies: one where
// SQLite keeps its temporary files, and one in the log.
func Compact(ctx context.Context, path string, progress func(CompactProgress)) (*Compacted, error) {
	c, err := open(context.WithoutCancel(ctx), path, readWrite)
	if err != nil {
		return nil, classify("open the store", err)
	}
	defer c.close()
	result := &Compacted{}
	if result.BytesBefore, err = diskSize(path); err != nil {
		return nil, err
	}
	s, err := c.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	if !s.has("sessions", "id") || !s.has("messages", "session_id") {
		return nil, unsupported("the store has no tables sessions and messages")
	}
	// Somebody who reads an older state would make the log keep a second copy of everything.
	switch done, err := c.truncateWAL(ctx); {
	case err != nil:
		return nil, classify("empty the log", err)
	case !done:
		return nil, &Error{Kind: ErrBusy, Detail: "another process is using the store"}
	}
	faultpoint.Hit(faultpoint.CompactBegins)
	if err := c.vacuum(ctx, path, progress); err != nil {
		// What VACUUM wrote to the log is void and would keep its space: on a full disk nobody could write any more.
		_, _ = c.truncateWAL(context.WithoutCancel(ctx))
		return nil, classify("compact the store", err)
	}
	faultpoint.Hit(faultpoint.CompactVacuumed)
	of := walSize(path)
	progress(CompactProgress{PhaseCheckpoint, 0, of})
	// The rows are rewritten for good; to stop half-way through the log would help nobody.
	result.WALTruncated, err = c.truncateWAL(context.WithoutCancel(ctx))
	if err != nil {
		return nil, classify("move the log into the store", err)
	}
	progress(CompactProgress{PhaseCheckpoint, max(0, of-walSize(path)), of})
	result.BytesAfter, err = diskSize(path)
	return result, err
}

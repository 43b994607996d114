package statedb

import (
	"context"
	"errors"
	"time"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/jitter"
)

// IndexErasure is what has become of the words that the full-text indexes keep of what was deleted.
type IndexErasure string

// What can become of them.
const (
	IndexesPurged  IndexErasure = "purged"    // no index holds one any more
	IndexesPending IndexErasure = "pending"   // at least one index may
	IndexesUnasked IndexErasure = "not_asked" // nobody wanted to know
)

// LogErasure is what has become of the store's log, -wal, which may hold pages as they were.
type LogErasure string

// What can become of it.
const (
	LogTruncated LogErasure = "truncated" // it is empty, or the store has none
	LogBusy      LogErasure = "busy"      // it may not be: somebody uses the store, or nobody got to it
	LogUnasked   LogErasure = "not_asked"
)

// Erasure is how much of what was deleted can still be read in the store's files (contract 6b).
type Erasure struct {
	Indexes IndexErasure
	WAL     LogErasure
}

// PurgeProgress is how far a purge is.
type PurgeProgress struct {
	Index string
	Steps int // that were taken at this index
}

// How a purge shares the store with others. The lock is tried for so long for each step; they can wait, since all that is
// pending may be done another time. After a step the lock is left alone for a multiple of the time that the step took: a
// writer who waits inside SQLite looks only now and then, and is to find it free more often than not.
const (
	purgePatience = 2 * time.Second
	restFactor    = 3
	leastRest     = 5 * time.Millisecond
	longestRest   = 500 * time.Millisecond
	slowStep      = 50 * time.Millisecond // after one that took longer, the next one writes a quarter
)

// mergesAtMost is how often a merge is begun. The first is enough, unless others write: a merge of few segments is passed over as
// long as there are as many new ones, which are too few to be merged; another one takes those along. Segments that lie oddly take
// three more.
const mergesAtMost = 8

// errNotMerged says that an index still holds deleted words after as many merges as there may be.
var errNotMerged = errors.New("it still holds deleted words after many merges")

// errKeepsDeleted says that merging cannot help: somebody removed messages in such a way that the index was never told.
var errKeepsDeleted = errors.New("it has entries of messages that are gone, and has to be rebuilt")

// Purge merges the full-text indexes of a store until they hold nothing of words that were deleted, and empties the log
// (contract 6b). Each step is a transaction of its own; a cancel, the end of the process or a crash stops between two and leaves a
// sound store, and the next purge goes on from there. What it could not do is pending, and the error says why; an index that
// this build cannot merge is pending without one.
func Purge(ctx context.Context, path string, progress func(PurgeProgress)) (Erasure, error) {
	result := Erasure{IndexesPending, LogBusy}
	faultpoint.Hit(faultpoint.PurgeBegins)
	look, err := StartLook(ctx, path, LookPatience)
	if err != nil {
		return result, err
	}
	defer look.Close()
	s, err := look.conn.readSchema(ctx)
	if err != nil {
		return result, err
	}
	p := &purge{look: look, progress: progress}
	pending := false
	for _, index := range look.conn.fullTextIndexes(ctx, s) {
		done := false
		if index.Usable && usesFTS5().MatchString(s.virtual[index.Name]) {
			p.index, p.steps = index.Name, 0
			p.stirs, p.stirred = keepsNoText().MatchString(s.virtual[index.Name]), false
			var failed error
			if done, failed = p.mergeAll(ctx); done {
				done, failed = look.conn.forgotAll(ctx, s, index.Name)
			}
			err = errors.Join(err, classify("merge the index "+index.Name, failed))
		}
		pending = pending || !done
		if ctx.Err() != nil || errors.Is(err, ErrBusy) {
			return result, err // nor would the log be free
		}
	}
	if !pending {
		result.Indexes = IndexesPurged
	}
	faultpoint.Hit(faultpoint.PurgeMerged)
	emptied, failed := p.emptyLog(ctx)
	if emptied {
		result.WAL = LogTruncated
	}
	return result, errors.Join(err, classify("empty the log", failed))
}

// purge is one purge under way, at one index.
type purge struct {
	look     *Look
	progress func(PurgeProgress)
	index    string
	stirs    bool // see Tx.stir
	stirred  bool // and nothing was merged since
	steps    int
	held     time.Duration // by the last step
	rest     time.Duration // until the next one
}

// mergeAll merges the index until nothing of deleted words is in it, and tells whether that was reached.
func (p *purge) mergeAll(ctx context.Context) (done bool, err error) {
	for range mergesAtMost {
		if done, err = p.mergeOnce(ctx); done || err != nil {
			return done, err
		}
	}
	return false, errNotMerged
}

// mergeOnce puts all segments into one merge, carries it to its end, and tells whether that left nothing of deleted words.
// Segments that are written meanwhile are no part of it: they hold nothing of what this purge is for. Where the segments lie so
// that a merge would not forget, it only stirs them, once.
func (p *purge) mergeOnce(ctx context.Context) (forgotten bool, err error) {
	level := -1
	err = p.step(ctx, func(ctx context.Context, tx *Tx) error {
		levels, err := tx.levels(ctx, p.index)
		if err != nil {
			return err
		}
		forgotten = levels.forgets()
		if p.stirred = !forgotten && p.stirs && !p.stirred; p.stirred {
			return tx.stir(ctx, p.index)
		}
		if _, err := tx.mergeIndex(ctx, p.index, -mergePages); err != nil {
			return err
		}
		levels, err = tx.levels(ctx, p.index)
		level = levels.merging()
		return err
	})
	for under := level; under >= level && under >= 0 && err == nil; {
		err = p.step(ctx, func(ctx context.Context, tx *Tx) error {
			changed, err := tx.mergeIndex(ctx, p.index, p.pages())
			if err != nil {
				return err
			}
			levels, err := tx.levels(ctx, p.index)
			under = levels.merging()
			if changed < 2 && under >= level { // it is passed over
				forgotten, under = false, -1
			}
			return err
		})
	}
	return forgotten && err == nil, err
}

// pages is how much the next step writes: less where the machine is slow, so that nobody waits long for one step.
func (p *purge) pages() int {
	if p.held > slowStep {
		return mergePages / 4
	}
	return mergePages
}

// step does one thing in a transaction of its own. A cancel is heard before it.
func (p *purge) step(ctx context.Context, do func(context.Context, *Tx) error) error {
	if err := jitter.Pause(ctx, p.rest, p.rest/4+time.Millisecond); err != nil {
		return err
	}
	tx, _, err := p.look.Begin(ctx, purgePatience)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(context.WithoutCancel(ctx), tx); err != nil {
		return err
	}
	faultpoint.Hit(faultpoint.PurgeStep)
	if err := tx.commitWithin(purgePatience); err != nil {
		return err
	}
	p.held = tx.Held()
	p.rest = min(max(restFactor*p.held, leastRest), longestRest)
	p.steps++
	p.progress(PurgeProgress{p.index, p.steps})
	return nil
}

// emptyLog moves the log into the store's file and empties it. What can be moved without keeping writers out is moved first, so
// that they wait only for the rest.
func (p *purge) emptyLog(ctx context.Context) (emptied bool, err error) {
	if err := p.look.rest(); err != nil {
		return false, err
	}
	for deadline := time.Now().Add(purgePatience); ; {
		if err := jitter.Pause(ctx, p.rest, leastRest); err != nil {
			return false, err
		}
		calm := context.WithoutCancel(ctx)
		if err := p.look.conn.moveWAL(calm); err != nil {
			return false, err
		}
		emptied, err := p.look.conn.truncateWAL(calm)
		if emptied || err != nil || !time.Now().Before(deadline) {
			return emptied, err
		}
	}
}

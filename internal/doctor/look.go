// Package doctor tells how a home is, for a person: what its store is, what is damaged, left over or in the way, and what that means.
// It reads and leaves no trace. It is for a process of its own: to copy a store, it opens the store's files, which nobody may do who has a
// connection to it.
//
// look.go sees, judge.go decides what that means and knows no file and no SQL, report.go says it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/home"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/methods"
	"session-sidecar/statedb"
)

// How long is asked and checked, each, unless all of it is wanted. Where a store has no write-ahead log, a writer waits for a reader.
const (
	enough        = 10 * time.Second
	enoughIfInWay = time.Second
)

// whoseFiles is what there may be too little time for in a folder of very many files.
const whoseFiles = "whose files are in sessions/"

// Question is what a person wants to know.
type Question struct {
	Home     string
	AgentDir string // of the installed Agent; empty where nobody knows
	Full     bool   // check all of it, whatever time that takes
	// Begins hears how large the store is, and about how long a full check of it takes.
	Begins func(bytes int64, takes time.Duration)
}

// Look looks at a home. An error means that it could not be looked at; methods.Explain has its word.
func Look(ctx context.Context, q Question) (*Report, error) {
	homePath, err := home.Resolve(q.Home)
	if err != nil {
		return nil, err
	}
	agent, err := statedb.LookAtAgent(q.AgentDir)
	if err != nil {
		return nil, err
	}
	store, err := statedb.Locate(homePath)
	if err != nil {
		return nil, err
	}
	kept := lookAtTrash(ctx, q.Full, homePath) // once, and before a writer could have to wait for us
	const tries = 5
	for range tries {
		f, holds, err := lookOnce(ctx, q, homePath, store, agent, kept)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if holds {
			return newReport(homePath, store, f), nil
		}
	}
	return nil, fmt.Errorf("%w: others opened and closed it again and again", statedb.ErrBusy)
}

func lookOnce(
	ctx context.Context, q Question, homePath, store string, agent statedb.Agent, kept trashFacts,
) (f facts, holds bool, err error) {
	f = facts{full: q.Full, trash: kept}
	if f.disk, err = statedb.DiskOf(store); err != nil {
		return f, false, err
	}
	// The files first: what comes after that has its row by the time that the store is asked.
	folder, err := cleanup.Open(homePath)
	var files *cleanup.Listing // nil where it cannot be had
	var unlisted []statedb.Failure
	if err == nil {
		defer folder.Close()
		listing, cancel := within(ctx, q.Full, enough)
		defer cancel()
		files, err = folder.List(listing)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		unlisted = []statedb.Failure{{What: whoseFiles, Cause: err}}
	case err != nil:
		f.folder = lineOf(err)
	}
	f.lock = locks.Look(homePath) // between the two readings of the manifests: one that is in both was a delete's at this moment, or is left
	exam, err := statedb.StartExam(ctx, store)
	if err == nil {
		defer exam.Close()
		f.shape, err = exam.Shape(ctx, agent)
	}
	if err != nil {
		if !errors.Is(err, statedb.ErrCorrupt) {
			return f, false, err
		}
		f.damage = lineOf(err)
		return f, exam == nil || exam.Holds(), nil
	}
	if f.shape.PathError != nil {
		word, line := methods.Explain(f.shape.PathError)
		f.refusal = refusal{string(word), line}
	}
	if q.Full && q.Begins != nil {
		bytes := exam.Bytes(ctx) // much of it may only be in the log yet
		q.Begins(bytes, statedb.FullCheckTakes(bytes))
	}
	if err := f.ask(ctx, q, exam, files); err != nil {
		return f, false, err
	}
	f.contents.Failures = append(f.contents.Failures, unlisted...)
	return f, exam.Holds(), nil
}

// lookAtTrash reads the entries, which say nothing of the store.
func lookAtTrash(ctx context.Context, full bool, homePath string) (f trashFacts) {
	f.at = time.Now()
	folder, err := trash.Open(homePath)
	if err == nil {
		defer folder.Close()
		reading, cancel := within(ctx, full, enough)
		defer cancel()
		f.found, err = folder.Inspect(reading)
	}
	switch {
	case errors.Is(err, trash.ErrUnusable):
		f.unusable = lineOf(err)
	case err != nil:
		f.failures = []statedb.Failure{{What: "the entries of the trash", Cause: err}}
	}
	return f
}

// within bounds what is asked and checked, unless all of it is wanted.
func within(ctx context.Context, full bool, limit time.Duration) (context.Context, context.CancelFunc) {
	if full {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// ask fills in what takes time.
func (f *facts) ask(ctx context.Context, q Question, exam *statedb.Exam, files *cleanup.Listing) error {
	limit := enough
	if f.shape.JournalMode != "wal" {
		limit = enoughIfInWay
	}
	asking, cancel := within(ctx, q.Full, limit)
	defer cancel()
	f.contents = exam.Contents(asking)
	if f.shape.Kind != statedb.KindForeign && files != nil {
		var err error
		f.files, err = files.Inspect(asking, exam.LiveIDs)
		if err != nil {
			f.contents.Failures = append(f.contents.Failures, statedb.Failure{What: whoseFiles, Cause: err})
		}
	}
	if q.Full {
		var err error
		f.checked, err = exam.CheckAll(ctx)
		return err
	}
	checking, cancel := within(ctx, q.Full, limit)
	defer cancel()
	f.checked = exam.Check(checking)
	return nil
}

// lineOf is an error as one line for a human.
func lineOf(err error) string {
	_, line := methods.Explain(err)
	return line
}

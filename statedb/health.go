package statedb

import (
	"context"
	"errors"
)

// What a person wants to know of a store that something is wrong with. This file asks and judges nothing; each question is asked by
// itself, so that a damaged page, or too little time, takes the answer to one of them and not to all. Nothing that is told holds what a
// conversation says. The SQL is in health_sql.go, the checks are in check.go.

// GuardHealth is a guard with what is known of its holder. Its SessionID is what the store keeps it under.
type GuardHealth struct {
	Guard
	State HolderState
	Stale bool // it protects nothing any more: it has run out, or its holder is gone
}

// mostGuards bounds how many guards are told one by one.
const mostGuards = 100

// FenceCounts tells how many fences of one kind there are.
type FenceCounts struct {
	All      int
	Expiring int
	RunOut   int // of those, the ones that hold no longer
	Garbled  int // no JSON; they hold for good
}

// Health is what a store holds. What could not be asked is nil, and among the failures; a table that is not there holds nothing.
type Health struct {
	Sessions, Messages *int64 // nil, too, without their table
	Pages              *PageHealth
	Guards             *GuardsHealth
	Unsettled          *Unsettled
	EmptySessions      *Sampled // sessions without a message
	LooseMessages      *Sampled // sessions that are not there, but whose messages are
	LostParents        *Sampled // sessions whose parent is not there
	Undead             *Sampled // live sessions that have a tombstone which still holds
	Fences             *FenceHealth
	Receipts           *ReceiptHealth
	Intents            *IntentHealth
	Notes              *int     // of files that may have to go
	StaleIndexes       []string // that the Agent has to rebuild

	// Failures are the questions that could not be answered. A context that ended is among their causes where the time was up.
	Failures []Failure
}

// PageHealth is what the store's file is made of.
type PageHealth struct{ All, Free, Size int64 }

// GuardsHealth are the guards.
type GuardsHealth struct {
	Count int
	First []GuardHealth // mostGuards of them at most
}

// Unsettled counts what the runtime's ledger has that is not settled.
type Unsettled struct{ Requests, Workers int }

// FenceHealth counts the fences.
type FenceHealth struct{ Sessions, Routes FenceCounts }

// Sampled counts ids, and names the first few.
type Sampled struct {
	Count int
	IDs   []string
}

// ReceiptHealth is what is known of the deletion receipts.
type ReceiptHealth struct {
	There   bool
	Unfit   error // why what is there under their name cannot hold receipts
	Count   int64
	Head    int64
	Damaged int64 // no JSON object
}

// IntentHealth is what is known of the route intents.
type IntentHealth struct {
	Count, Damaged int
	SessionIDs     int
}

// Failure is a question that was not answered.
type Failure struct {
	What  string
	Cause error // an *Error, or the context's
}

// Unfinished tells whether there was only too little time.
func (f Failure) Unfinished() bool {
	return errors.Is(f.Cause, context.DeadlineExceeded) || errors.Is(f.Cause, context.Canceled)
}

// Damaged tells whether SQLite could not read what it takes.
func (f Failure) Damaged() bool { return errors.Is(f.Cause, ErrCorrupt) }

// Line is the failure for a human.
func (f Failure) Line() string { return lineOf(f.Cause) }

// Contents asks what the store holds. What ctx leaves no time for is a Failure.
func (e *Exam) Contents(ctx context.Context) *Health {
	h := &Health{}
	if e.conn == nil {
		return h
	}
	for _, q := range e.questions() {
		err := ctx.Err()
		if err == nil {
			err = q.ask(ctx, h)
		}
		if err != nil && ctx.Err() != nil {
			err = ctx.Err() // whatever SQLite says of an interrupt
		}
		if err != nil {
			h.Failures = append(h.Failures, Failure{q.what, classify(q.what, err)})
		}
	}
	return h
}

// asking is one question; its answer is written down only where all of it is there.
type asking struct {
	what string
	ask  func(context.Context, *Health) error
}

// questions are all of them, those that take long last.
func (e *Exam) questions() []asking {
	return []asking{
		{"the pages", e.countPages},
		{"the guards", e.readAllGuards},
		{"the requests and workers that are not settled", e.countUnsettled},
		{"the route intents", e.readIntents},
		{"the notes of files", e.countNotes},
		{"the indexes to be rebuilt", e.readStaleIndexes},
		{"the deletion receipts", e.readReceiptHealth},
		{"the number of sessions", e.countSessions},
		{"the fences", e.countFences},
		{"sessions that are live and have a tombstone", e.findUndead},
		{"the parents of the sessions", e.findLostParents},
		{"sessions without messages", e.findEmptySessions},
		{"messages without their session", e.findLooseMessages},
		{"the number of messages", e.countMessages},
	}
}

// examGuard tells what is known of a guard's holder.
func examGuard(g Guard, now float64, state func(holder string) HolderState) GuardHealth {
	known := state(g.Holder)
	return GuardHealth{g, known, g.stale(now, func(string) bool { return known == HolderGone })}
}

package statedb

import (
	"context"
	"errors"
)

// What a person wants to know of a store that something is wrong with. This file asks and judges nothing; each question is asked by
// itself, so that a damaged page, or too little time, takes the answer to one of them and not to all. Nothing that is told holds what a
// conversation says. The SQL is in health_sql.go, the checks are in check.go.

// StoreKind is what a store is (contract 3).
type StoreKind string

// The kinds.
const (
	KindRuntime StoreKind = "runtime"        // of an Agent with the runtime ledger
	KindLegacy  StoreKind = "legacy"         // of an older one
	KindPartial StoreKind = "partial_ledger" // some of the ledger's tables are there, and not all
	KindForeign StoreKind = "foreign"        // an SQLite database that is no Agent's history
	KindEmpty   StoreKind = "empty"          // no byte is in it
)

// NewestSchema is the newest schema_version that we know (contract 3).
const NewestSchema = 31

// GuardHealth is a guard with what is known of its holder. Its SessionID is what the store keeps it under.
type GuardHealth struct {
	Guard
	State HolderState
	Stale bool // it protects nothing any more: it has run out, or its holder is gone
}

// MostGuards bounds how many guards are told one by one.
const MostGuards = 100

// Fences counts the fences of one kind.
type Fences struct {
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
	First []GuardHealth // MostGuards of them at most
}

// Unsettled counts what the runtime's ledger has that is not settled.
type Unsettled struct{ Requests, Workers int }

// FenceHealth counts the fences.
type FenceHealth struct{ Sessions, Routes Fences }

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
func (f Failure) Line() string {
	var ours *Error
	if errors.As(f.Cause, &ours) {
		return ours.Line()
	}
	return f.Cause.Error()
}

// Shape is what a store is (contract 3, 5d).
type Shape struct {
	*Report
	Kind StoreKind
	// SetAside are indexes that this build cannot write and a delete goes around; IndexFault is why it could not (contract 4).
	SetAside   []string
	IndexFault error
}

// Exam looks at one snapshot of a store and leaves no trace: no file is made or written, no lock is taken that a writer waits for.
// Only while it lasts, the log cannot be begun anew. A process that has the store open otherwise may not begin one. End it with
// Close.
type Exam struct {
	*untouched
	schema *schema
}

// StartExam opens the store. Errors are *Error: ErrCorrupt for what is no database.
func StartExam(ctx context.Context, path string) (*Exam, error) {
	u, err := openUntouched(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Exam{untouched: u}, nil
}

// Close gives the store back.
func (e *Exam) Close() { e.close() }

// Holds tells whether all that was read is what the store holds. It is asked before anything of it is believed; where it is not so,
// another exam tells the truth.
func (e *Exam) Holds() bool { return e.holds() }

// LiveIDs tells which of the ids have a session row in the snapshot.
func (e *Exam) LiveIDs(ctx context.Context, ids []string) (map[string]bool, error) {
	if e.conn == nil {
		return map[string]bool{}, nil
	}
	live, err := e.liveAmong(ctx, ids)
	return live, classify("ask which sessions are live", err)
}

// Shape reads what the store is. Without it nothing else can be asked.
func (e *Exam) Shape(ctx context.Context, agent Agent) (*Shape, error) {
	shape := &Shape{Kind: KindEmpty, Report: &Report{Tables: map[string]bool{}, JournalMode: "none"}}
	e.schema = &schema{}
	if e.conn != nil {
		s, err := e.readSchema(ctx)
		if err != nil {
			return nil, err
		}
		e.schema = s
		shape.Kind = s.kind()
		if shape.Report, err = e.shapeOf(ctx, s, agent); err != nil {
			return nil, classify("look at the store", err)
		}
		if shape.PathError == nil { // what the schema alone refuses (contract 3)
			switch _, err := e.cascades(ctx); {
			case errors.Is(err, ErrUnsupported):
				shape.Path, shape.PathError = "", err
			case err != nil:
				return nil, err
			}
		}
		shape.SetAside, shape.IndexFault = e.indexesToSetAside(ctx, s)
		if e.way == wayAlone { // SQLite does not tell, where it is told that nobody ever writes
			shape.JournalMode = "wal"
		}
	} else {
		_, shape.PathError = choosePath(e.schema, agent)
		shape.Missing = e.schema.missing()
	}
	return shape, nil
}

// Disk is what a store takes on the disk. It is asked of the file system, and nothing is opened.
type Disk struct {
	Bytes, WALBytes int64
	JournalBytes    int64 // of a rollback journal, which a writer left or writes just now
}

// DiskOf looks at the files of a store.
func DiskOf(path string) (Disk, error) {
	whole, err := diskSize(path)
	if err != nil {
		return Disk{}, err
	}
	d := Disk{WALBytes: walSize(path)}
	d.Bytes = whole - d.WALBytes
	if journal := sizeOf(path + "-journal"); journal != nil {
		d.JournalBytes = *journal
	}
	return d, nil
}

func (s *schema) kind() StoreKind {
	switch {
	case !s.hasConversations():
		return KindForeign
	case !s.hasPartOfLedger():
		return KindLegacy
	case len(s.missingRuntime()) == 0:
		return KindRuntime
	}
	return KindPartial
}

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

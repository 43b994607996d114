package statedb

import (
	"context"
	"errors"
)

// A store looked at by a person that something is wrong with, beside whoever works with it. What can be asked is in health.go, the checks are
// in check.go.

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
	e.schema = &schema{}
	if e.conn == nil {
		shape := &Shape{Kind: KindEmpty, Report: &Report{Tables: map[string]bool{}, JournalMode: "none", Missing: e.schema.missing()}}
		_, shape.PathError = choosePath(e.schema, agent)
		return shape, nil
	}
	s, err := e.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	e.schema = s
	shape := &Shape{Kind: s.kind()}
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

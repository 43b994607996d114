package statedb

import (
	"errors"
	"fmt"
)

// This file holds what can be wrong with a store, in our words; sqlite_errors.go finds which of it an error of SQLite is.

// Each sentinel is one reason of contract 4; methods maps them to the wire.
var (
	ErrMissing            = errors.New("there is no store here")
	ErrUnsupported        = errors.New("the store is of a kind that this sidecar does not delete from")
	ErrBusy               = errors.New("another process held the store's write lock for too long")
	ErrCorrupt            = errors.New("the store is damaged or is no database")
	ErrIO                 = errors.New("the store cannot be read or written")
	ErrGuardsUnavailable  = errors.New("the store has no turn leases or compression locks, so a running turn could not be seen")
	ErrActiveTurn         = errors.New("somebody is at work in this conversation")
	ErrRuntimeHistory     = errors.New("a newer Agent's runtime history names this conversation")
	ErrReceiptInvalid     = errors.New("the policy of this local conversation does not hold")
	ErrIncomplete         = errors.New("another part of this conversation stays, so all of it does")
	ErrPlanChanged        = errors.New("the set of sessions is another one than was agreed to")
	ErrLineageAmbiguous   = errors.New("it is not certain which sessions belong to this conversation")
	ErrAgentUnreadable    = errors.New("the Agent's folder cannot be listed")
	ErrFullTextUnwritable = errors.New("a full-text index of the store cannot be written by this build")
)

// Error is what went wrong with a store. Questions to a store and transactions fail with one, unless the caller's context has ended; a
// Commit may have ErrOutcomeUnknown beside it. Unwrap gives the sentinel and the cause.
type Error struct {
	Kind   error  // one of the sentinels above, or of those of receipts, searching and keeping
	Detail string // one line for a human; empty where the sentinel says it all
	Guard  *Guard // set with ErrActiveTurn: what protects which session
	Path   Path   // the path that the delete was about to take, where it was chosen
	Plan   *Plan  // set with ErrPlanChanged: what a delete would do now
	Head   int64  // set with ErrCursorInvalid: the newest sequence ever given
	Cause  error  // nil where nothing underneath failed
}

func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Line is the error for a human who knows the reason already: what the detail says, and what went wrong underneath. It may hold SQLite's
// words; see ForLog.
func (e *Error) Line() string {
	if e.Detail == "" {
		return e.Error()
	}
	if e.Cause == nil {
		return e.Detail
	}
	return e.Detail + ": " + e.Cause.Error()
}

// lineOf is Line for an error that may be another's.
func lineOf(err error) string {
	if ours, is := errors.AsType[*Error](err); is {
		return ours.Line()
	}
	return err.Error()
}

// unsupported is ErrUnsupported with a line of our own.
func unsupported(format string, args ...any) error {
	return &Error{Kind: ErrUnsupported, Detail: fmt.Sprintf(format, args...)}
}

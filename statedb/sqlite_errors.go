package statedb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file tells what an error of SQLite is to us, and which of its words nobody may read.

// SQLite's primary result codes that we tell apart.
const (
	codeError      = 1
	codePerm       = 3
	codeBusy       = 5
	codeLocked     = 6
	codeNoMemory   = 7
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCannotOpen = 14
	codeProtocol   = 15
	codeTooBig     = 18
	codeConstraint = 19
	codeNoLargeFS  = 22
	codeAuth       = 23
	codeNotADB     = 26
)

// Extended codes.
const (
	codeRollback  = codeReadOnly | 3<<8 // there is a journal to be rolled back, which a reader may not do
	codeShortRead = codeIO | 2<<8       // a read went beyond the end of the file

	codeCheck      = codeConstraint | 1<<8
	codeForeignKey = codeConstraint | 3<<8
	codeNotNull    = codeConstraint | 5<<8
	codePrimaryKey = codeConstraint | 6<<8
	codeTrigger    = codeConstraint | 7<<8
	codeUnique     = codeConstraint | 8<<8
	codeRowid      = codeConstraint | 10<<8
	codeDatatype   = codeConstraint | 12<<8
)

// codesWithoutText are those of a constraint that a row does not meet: SQLite's words name tables, columns and what the schema says.
// Those of a trigger, or of a function that one calls, may quote the row.
var codesWithoutText = []int{codeCheck, codeForeignKey, codeNotNull, codePrimaryKey, codeUnique, codeRowid, codeDatatype}

// cutOff is a read beyond the end of the file: the disk has done what it was asked for, and the store lacks what its own pages lead to. SQLite calls
// it a disk error, with the number of whatever failed in the system before.
type cutOff struct{ cause error }

func (c *cutOff) Error() string { return "the file ends within a page" }

func (c *cutOff) Unwrap() error { return c.cause }

// kinds is the one table from SQLite's codes to our sentinels. What is not in it (a constraint, a trigger that raises,
// a missing column) is a store that does not fit: ErrUnsupported, with SQLite's own words.
var kinds = map[int]error{
	codeBusy: ErrBusy, codeLocked: ErrBusy, codeProtocol: ErrBusy,
	codeCorrupt: ErrCorrupt, codeNotADB: ErrCorrupt,
	codePerm: ErrIO, codeReadOnly: ErrIO, codeIO: ErrIO, codeFull: ErrIO, codeCannotOpen: ErrIO, codeAuth: ErrIO,
	codeNoMemory: ErrIO, codeTooBig: ErrIO, codeNoLargeFS: ErrIO,
}

// classify wraps an error of a statement in ours. Errors of ours and of a context pass unchanged; an interrupt is the
// cancel that caused it.
func classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, is := errors.AsType[*Error](err); is || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	primary, extended, ok := resultCodes(err)
	if !ok {
		return &Error{Kind: ErrIO, Detail: doing, Cause: err}
	}
	if primary == codeInterrupt {
		return context.Canceled
	}
	if extended == codeShortRead {
		return &Error{Kind: ErrCorrupt, Detail: doing, Cause: &cutOff{err}}
	}
	kind := kinds[primary]
	if kind == nil {
		kind = ErrUnsupported
	}
	return &Error{Kind: kind, Detail: doing, Cause: err}
}

// wordless is an error of SQLite whose words may hold what was deleted.
type wordless struct {
	code  int
	cause error
}

func (w *wordless) Error() string {
	if w.code == codeTrigger {
		return "a trigger of the store refuses it"
	}
	return fmt.Sprintf("SQLite gave the error %d", w.code)
}

func (w *wordless) Unwrap() error { return w.cause }

// withoutText is classify for a statement that is given text which nobody may read in an error (contract 10.5).
func withoutText(doing string, err error) error {
	if primary, extended, ok := resultCodes(err); ok && primary != codeInterrupt && !slices.Contains(codesWithoutText, extended) {
		if _, is := errors.AsType[*Error](err); !is {
			err = &wordless{extended, err}
		}
	}
	return classify(doing, err)
}

// isFull tells whether the disk was full. SQLite writes the frame that makes a commit last, so this one never happened.
func isFull(err error) bool {
	primary, _, ok := resultCodes(err)
	return ok && primary == codeFull
}

// isTransient tells whether what failed may have been a moment's failure of the disk, or of what lies between. Where the log of a
// store is being made or recovered, a reader meets CANTOPEN and READONLY. A page that the disk does not give is CORRUPT to
// SQLite, unless it is the first: it takes the file system for damaged, and no word of it tells that from a damaged store.
func isTransient(err error) bool {
	primary, _, ok := resultCodes(err)
	return ok && slices.Contains([]int{codeIO, codeCannotOpen, codeReadOnly, codeCorrupt}, primary)
}

// isBusy tells whether trying again may help.
func isBusy(err error) bool {
	primary, _, ok := resultCodes(err)
	return ok && errors.Is(kinds[primary], ErrBusy)
}

// ForLog is an error as a log may hold it: without the words of a trigger, which are the store's own and may quote a row, and without
// those of an index, which quote what was searched for. All other words of SQLite name tables and columns.
func ForLog(err error) string {
	text := err.Error()
	for _, inner := range errorsOfSQLite(err) {
		_, extended, _ := resultCodes(inner)
		if extended == codeTrigger || strings.HasPrefix(inner.Error(), "fts5:") {
			text = strings.ReplaceAll(text, inner.Error(), (&wordless{extended, inner}).Error())
		}
	}
	return text
}

// errorsOfSQLite are those that an error wraps, in whatever way.
func errorsOfSQLite(err error) (found []error) {
	var several interface{ Unwrap() []error }
	switch inner := errors.Unwrap(err); {
	case inner != nil:
		return errorsOfSQLite(inner)
	case errors.As(err, &several):
		for _, one := range several.Unwrap() {
			found = append(found, errorsOfSQLite(one)...)
		}
		return found
	}
	if _, _, ok := resultCodes(err); ok {
		return []error{err}
	}
	return nil
}

//go:build cgo

package statedb

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

func TestClassify(t *testing.T) {
	plain := errors.New("no SQLite")
	ours := &Error{Kind: ErrActiveTurn}
	for _, test := range []struct {
		err, want error
	}{
		{sqlite3.Error{Code: sqlite3.ErrBusy}, ErrBusy},
		{sqlite3.Error{Code: sqlite3.ErrBusy, ExtendedCode: sqlite3.ErrBusySnapshot}, ErrBusy},
		{sqlite3.Error{Code: sqlite3.ErrLocked}, ErrBusy},
		{sqlite3.Error{Code: sqlite3.ErrProtocol}, ErrBusy},
		{sqlite3.Error{Code: sqlite3.ErrCorrupt}, ErrCorrupt},
		{sqlite3.Error{Code: sqlite3.ErrNotADB}, ErrCorrupt},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrFull}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrReadonly}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrCantOpen}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrPerm}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrAuth}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrNomem}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrTooBig}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrNoLFS}, ErrIO},
		{sqlite3.Error{Code: sqlite3.ErrConstraint}, ErrUnsupported},
		{sqlite3.Error{Code: sqlite3.ErrError}, ErrUnsupported},
		{sqlite3.Error{Code: sqlite3.ErrSchema}, ErrUnsupported},
		{sqlite3.Error{Code: sqlite3.ErrMismatch}, ErrUnsupported},
		{sqlite3.Error{Code: sqlite3.ErrInterrupt}, context.Canceled},
		{fmt.Errorf("wrapped: %w", sqlite3.Error{Code: sqlite3.ErrFull}), ErrIO},
		{plain, ErrIO},
	} {
		got := classify("doing it", test.err)
		require.ErrorIs(t, got, test.want, "%v", test.err)
		if test.want != context.Canceled {
			require.ErrorIs(t, got, test.err)
			assert.Equal(t, test.want.Error()+": doing it: "+test.err.Error(), got.Error())
		}
		assert.Equal(t, test.want == ErrBusy, isBusy(test.err), "%v", test.err)
	}
	short := sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrShortRead}
	require.ErrorIs(t, classify("doing it", short), short)
	requireDetail(t, classify("doing it", short), ErrCorrupt, "doing it: the file ends within a page")
	require.NoError(t, classify("doing it", nil))
	for _, err := range []error{ours, fmt.Errorf("more: %w", ours), context.Canceled, context.DeadlineExceeded} {
		assert.Equal(t, err, classify("doing it", err))
		assert.False(t, isBusy(err))
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("cause")
	assert.Equal(t, ErrIO.Error(), (&Error{Kind: ErrIO}).Error())
	assert.Equal(t, ErrIO.Error()+": detail", (&Error{Kind: ErrIO, Detail: "detail"}).Error())
	assert.Equal(t, ErrIO.Error()+": detail: cause", (&Error{Kind: ErrIO, Detail: "detail", Cause: cause}).Error())
	assert.Equal(t, ErrIO.Error(), (&Error{Kind: ErrIO}).Line())
	assert.Equal(t, "detail", (&Error{Kind: ErrIO, Detail: "detail"}).Line())
	assert.Equal(t, "detail: cause", (&Error{Kind: ErrIO, Detail: "detail", Cause: cause}).Line())
	assert.Equal(t, []error{ErrIO}, (&Error{Kind: ErrIO}).Unwrap(), "no empty link in the chain")
	assert.Equal(t, []error{ErrIO, cause}, (&Error{Kind: ErrIO, Cause: cause}).Unwrap())
}

func TestOnPath(t *testing.T) {
	plain := errors.New("plain")
	assert.Equal(t, plain, onPath(PathLegacy, plain))
	before := &Error{Kind: ErrBusy}
	var after *Error
	require.ErrorAs(t, onPath(PathLegacy, before), &after)
	assert.Equal(t, PathLegacy, after.Path)
	assert.Empty(t, before.Path, "the error that was handed in stays as it is")
}

// TestAWordOfSQLite stands in an error where it names what the schema says, and not where it may quote a row.
func TestAWordOfSQLite(t *testing.T) {
	for code, want := range map[sqlite3.ErrNoExtended]string{
		sqlite3.ErrConstraintUnique: "constraint failed", sqlite3.ErrConstraintNotNull: "constraint failed", sqlite3.ErrConstraintForeignKey: "constraint failed",
		sqlite3.ErrConstraintTrigger: "a trigger of the store refuses it", sqlite3.ErrConstraintFunction: "SQLite gave the error 1043",
		sqlite3.ErrNoExtended(sqlite3.ErrError): "SQLite gave the error 1",
	} {
		err := withoutText("put it back", sqlite3.Error{Code: sqlite3.ErrNo(code & 0xff), ExtendedCode: code})
		require.ErrorIs(t, err, ErrUnsupported)
		assert.Contains(t, err.Error(), want)
	}
	require.ErrorIs(t, withoutText("put it back", sqlite3.Error{Code: sqlite3.ErrFull, ExtendedCode: 13}), ErrIO)
	require.ErrorIs(t, withoutText("put it back", sqlite3.Error{Code: sqlite3.ErrInterrupt, ExtendedCode: 9}), context.Canceled)
	assert.Equal(t, unsupported("x"), withoutText("put it back", unsupported("x")))
	assert.NoError(t, withoutText("put it back", nil))
}

// TestForLog: the words of a trigger, and what was searched for, are in no log, however the error is wrapped; all other words are.
func TestForLog(t *testing.T) {
	home := newHome(t)
	home.Create(fixtures.LegacySchema, "INSERT INTO sessions (id, source, title, started_at) VALUES ('s', 'cli', 'a private title', 1)",
		`CREATE TRIGGER no BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'not ' || old.title); END`)
	db := home.Open()
	_, raised := db.Exec("DELETE FROM sessions")
	require.ErrorContains(t, raised, "not a private title")
	_, searched := db.Exec(`SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'a AND AND private'`)
	_, named := db.Exec("SELECT absent FROM sessions")
	for _, test := range []struct {
		err  error
		said string
	}{
		{raised, "a trigger of the store refuses it"},
		{classify("delete sessions", raised), ErrUnsupported.Error() + ": delete sessions: a trigger of the store refuses it"},
		{
			errors.Join(ErrOutcomeUnknown, fmt.Errorf("more: %w", classify("commit", raised))),
			ErrOutcomeUnknown.Error() + "\nmore: " + ErrUnsupported.Error() + ": commit: a trigger of the store refuses it",
		},
		{searched, "SQLite gave the error 1"},
		{named, "no such column: absent"},
		{errors.New("no SQLite"), "no SQLite"},
	} {
		require.Error(t, test.err)
		assert.Equal(t, test.said, ForLog(test.err))
	}
}

package methods

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"session-sidecar/cleanup"
	"session-sidecar/internal/home"
	"session-sidecar/internal/newfile"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/rpc"
	"session-sidecar/statedb"
)

// reasons is the one table from the errors of the packages below to the wire. The first that matches counts.
var reasons = []struct {
	err    error
	reason Reason
}{
	{home.ErrMissing, ReasonStoreMissing},
	{home.ErrUnusable, ReasonIOError},
	{locks.ErrTimeout, ReasonLockTimeout},
	{locks.ErrHeld, ReasonStoreBusy},
	{locks.ErrUnusable, ReasonIOError},
	{newfile.ErrNotMade, ReasonIOError},
	{trash.ErrNotFound, ReasonNotFound},
	{trash.ErrDamaged, ReasonTrashDamaged},
	{trash.ErrUnusable, ReasonIOError},
	{trash.ErrUnkeepable, ReasonIOError},
	{cleanup.ErrManifest, ReasonManifestFailed},
	{cleanup.ErrUnusableFolder, ReasonIOError},
	{cleanup.ErrNotListed, ReasonIOError},
	{statedb.ErrActiveTurn, ReasonActiveTurn},
	{statedb.ErrRuntimeHistory, ReasonRuntimeHistory},
	{statedb.ErrMissing, ReasonStoreMissing},
	{statedb.ErrUnsupported, ReasonStoreUnsupported},
	{statedb.ErrBusy, ReasonStoreBusy},
	{statedb.ErrCorrupt, ReasonStoreCorrupt},
	{statedb.ErrGuardsUnavailable, ReasonWriteGuardUnavailable},
	{statedb.ErrReceiptInvalid, ReasonReceiptInvalid},
	{statedb.ErrIncomplete, ReasonConversationIncomplete},
	{statedb.ErrPlanChanged, ReasonPlanChanged},
	{statedb.ErrLineageAmbiguous, ReasonLineageAmbiguous},
	{statedb.ErrFullTextUnwritable, ReasonFTSUnavailable},
	{statedb.ErrNotSearchable, ReasonFTSUnavailable},
	{statedb.ErrAgentUnreadable, ReasonIOError},
	{statedb.ErrNoReceipts, ReasonReceiptsMissing},
	{statedb.ErrCursorInvalid, ReasonCursorInvalid},
	{statedb.ErrIO, ReasonIOError},
}

// refusals are the two reasons that hosts know by the older field "refused" (contract 4).
var refusals = map[Reason]bool{ReasonActiveTurn: true, ReasonRuntimeHistory: true}

// reasonOf finds the reason of an error, if it is one that a caller can act on.
func reasonOf(err error) (Reason, bool) {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.reason, true
		}
	}
	return "", false
}

// isCancel tells whether an error is the cancel of this very call.
func isCancel(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// Explain gives the stable word of an error of the packages below and one line for a human, for a program that speaks to a person and
// not over the wire. An error that no caller can act on has no word.
func Explain(err error) (reason Reason, line string) {
	reason, _ = reasonOf(err)
	return reason, detailOf(err)
}

// maxDetail is how many characters a detail has at most: it may quote what a store holds, however long that is.
const maxDetail = 500

// detailOf is the error as one line of bounded length for a human.
func detailOf(err error) string {
	text := err.Error()
	if store, is := errors.AsType[*statedb.Error](err); is {
		text = store.Line()
	}
	return oneLine(text)
}

func oneLine(text string) string {
	return bounded(strings.Join(strings.Fields(strings.ReplaceAll(text, "\n", "; ")), " "))
}

// bounded cuts a text that is too long, between two characters.
func bounded(text string) string {
	characters := 0
	for at := range text {
		if characters++; characters == maxDetail {
			if _, size := utf8.DecodeRuneInString(text[at:]); at+size < len(text) {
				return text[:at] + "…"
			}
		}
	}
	return text
}

// application is an error answer with a condition.
func application(condition Reason, format string, args ...any) *rpc.Error {
	return &rpc.Error{
		Code:    rpc.CodeApplication,
		Message: fmt.Sprintf(format, args...),
		Data:    rpc.Condition{Condition: string(condition)},
	}
}

// conditionOf is the error answer for an error of a method that does not refuse inside its result (contract 1.10). A cancel, what is an
// answer already, and what no caller can act on pass as they are.
func conditionOf(err error) error {
	reason, known := reasonOf(err)
	if !known || errors.Is(err, context.Canceled) {
		return err
	}
	answer := application(reason, "%s", detailOf(err))
	if store, is := errors.AsType[*statedb.Error](err); is {
		switch reason { // what a consumer of receipts needs to go on (contract 8.5)
		case ReasonCursorInvalid:
			answer.Data = cursorInvalid{reason, Sequence(store.Head)}
		case ReasonReceiptsMissing:
			answer.Data = rpc.Condition{Condition: string(reason), Detail: store.Detail}
		}
	}
	return answer
}

func invalidParams(format string, args ...any) *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

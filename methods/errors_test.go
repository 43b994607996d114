package methods

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/cleanup"
	"session-sidecar/internal/home"
	"session-sidecar/internal/newfile"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/statedb"
)

// wanted are the words for each sentinel of the packages below, by hand.
var wanted = map[error]Reason{
	home.ErrMissing:               "store_missing",
	home.ErrUnusable:              "io_error",
	locks.ErrTimeout:              "lock_timeout",
	locks.ErrUnusable:             "io_error",
	cleanup.ErrUnusableFolder:     "io_error",
	cleanup.ErrNotListed:          "io_error",
	cleanup.ErrManifest:           "manifest_failed",
	statedb.ErrMissing:            "store_missing",
	statedb.ErrUnsupported:        "store_unsupported",
	statedb.ErrBusy:               "store_busy",
	statedb.ErrCorrupt:            "store_corrupt",
	statedb.ErrIO:                 "io_error",
	statedb.ErrGuardsUnavailable:  "write_guard_unavailable",
	statedb.ErrActiveTurn:         "active_turn",
	statedb.ErrRuntimeHistory:     "runtime_history_unsupported",
	statedb.ErrPlanChanged:        "plan_changed",
	locks.ErrHeld:                 "store_busy",
	statedb.ErrNotSearchable:      "fts_unavailable",
	newfile.ErrNotMade:            "io_error",
	statedb.ErrLineageAmbiguous:   "lineage_ambiguous",
	statedb.ErrFullTextUnwritable: "fts_unavailable",
	statedb.ErrAgentUnreadable:    "io_error",
	statedb.ErrReceiptInvalid:     "receipt_invalid",
	statedb.ErrIncomplete:         "conversation_incomplete",
	statedb.ErrNoReceipts:         "receipts_schema_missing",
	statedb.ErrCursorInvalid:      "cursor_invalid",
	trash.ErrNotFound:             "not_found",
	trash.ErrDamaged:              "trash_damaged",
	trash.ErrUnusable:             "io_error",
	trash.ErrUnkeepable:           "io_error",
}

func TestEverySentinelHasItsReason(t *testing.T) {
	assert.Len(t, reasons, len(wanted))
	for sentinel, want := range wanted {
		for _, err := range []error{
			sentinel, fmt.Errorf("while deleting: %w", sentinel), errors.Join(sentinel, errors.New("and more")),
			&statedb.Error{Kind: sentinel, Cause: fs.ErrPermission},
		} {
			reason, known := reasonOf(err)
			assert.True(t, known, err)
			assert.Equal(t, want, reason, err)
		}
		if _, other := notOfADelete[want]; !other {
			assert.Contains(t, deleteReasons, want)
		}
		result, known := refusalOf(sentinel)
		assert.True(t, known)
		assert.False(t, result.OK)
		assert.Empty(t, result.DeletedIDs)
		assert.Equal(t, want, result.Reason)
		assert.Equal(t, sentinel.Error(), result.Detail)
		if want == "active_turn" || want == "runtime_history_unsupported" {
			assert.Equal(t, want, result.Refused)
		} else {
			assert.Empty(t, result.Refused, "only the two that older hosts know")
		}
	}
}

func TestOtherErrorsHaveNoReason(t *testing.T) {
	for _, err := range []error{errors.New("surprise"), context.Canceled, context.DeadlineExceeded, fs.ErrNotExist, statedb.ErrOutcomeUnknown} {
		_, known := reasonOf(err)
		assert.False(t, known, err)
		_, known = refusalOf(err)
		assert.False(t, known, err)
	}
}

func TestRefusalOfAGuard(t *testing.T) {
	expires := 1790000000.5
	err := fmt.Errorf("plan: %w", &statedb.Error{
		Kind: statedb.ErrActiveTurn, Detail: "session s is in use", Path: statedb.PathLegacy,
		Guard: &statedb.Guard{SessionID: "s", Kind: statedb.GuardTurnLease, Holder: "h", ExpiresAt: &expires},
	})
	result, known := refusalOf(err)
	require.True(t, known)
	assert.Equal(t, deleteResult{
		Reason: ReasonActiveTurn, Refused: ReasonActiveTurn, Path: statedb.PathLegacy, Detail: "session s is in use",
		Guard: &guardInfo{"s", statedb.GuardTurnLease, "h", &expires},
	}, result)
}

// What a store holds may be quoted, however long it is; a character is never cut in two.
func TestDetailIsBounded(t *testing.T) {
	for _, letter := range []string{"x", "é", "漢", "😀", "\xff"} {
		for _, n := range []int{maxDetail - 1, maxDetail} {
			whole := strings.Repeat(letter, n)
			assert.Equal(t, whole, detailOf(errors.New(whole)))
		}
		for _, n := range []int{maxDetail + 1, 1_000_000} {
			want := strings.Repeat(letter, maxDetail-1) + "…"
			assert.Equal(t, want, detailOf(&statedb.Error{Kind: statedb.ErrReceiptInvalid, Detail: strings.Repeat(letter, n)}))
		}
	}
	result, known := refusalOf(&statedb.Error{Kind: statedb.ErrUnsupported, Detail: strings.Repeat("x", 1_000_000)})
	assert.True(t, known)
	assert.Len(t, []rune(result.Detail), maxDetail)
}

func TestDetailIsOneLine(t *testing.T) {
	for _, err := range []error{
		errors.Join(errors.New("first"), errors.New("second\nthird")),
		errors.New("a\r\nb\tc\u2028d\u0085e  f\v\fg"),
		fmt.Errorf("%w: path with\nline breaks", statedb.ErrIO),
		&statedb.Error{Kind: statedb.ErrIO, Detail: "one\ntwo", Cause: errors.New("three\nfour")},
		&cleanup.Error{Kind: cleanup.ErrManifest, Name: "sessions", Cause: errors.Join(fs.ErrPermission, fs.ErrExist)},
		&locks.Error{Kind: locks.ErrTimeout, Path: "/home\n/x"},
	} {
		detail := detailOf(err)
		assert.NotEmpty(t, detail)
		assert.Equal(t, strings.Join(strings.Fields(detail), " "), detail)
		assert.NotContains(t, detail, "\n")
	}
	assert.Equal(t, "first; second; third", detailOf(errors.Join(errors.New("first"), errors.New("second\nthird"))))
	assert.Equal(t, "one; two: three; four",
		detailOf(&statedb.Error{Kind: statedb.ErrIO, Detail: "one\ntwo", Cause: errors.New("three\nfour")}), "without the sentinel: the reason says it")
}

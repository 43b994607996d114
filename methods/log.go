package methods

import (
	"context"
	"math"
	"time"

	"session-sidecar/internal/deletion"
)

// This file holds the lines that a delete leaves in the log, one for each. A log line never holds a title, a message or a config
// (docs/reference/logs.md lists what it may hold).

// mostLoggedIDs is how many ids a line names: a sweep may take thousands. Their number is told beside.
const mostLoggedIDs = 20

// unexpectedFailure stands in a line where no reason of the wire does: another line has the error.
const unexpectedFailure Reason = "unexpected_failure"

// loggedReason is the reason of an error as a line tells it.
func loggedReason(ctx context.Context, err error) Reason {
	if isCancel(ctx, err) {
		return ConditionCancelled
	}
	if reason, known := reasonOf(err); known {
		return reason
	}
	return unexpectedFailure
}

// logDelete tells of a delete that was answered, refused or cancelled.
func (s *service) logDelete(home, session string, result deleteResult, took deletion.Durations, total time.Duration) {
	s.log.Info("delete", "home", home, "session", session, "ok", result.OK, "reason", string(result.Reason), "path", string(result.Path),
		"ids", firstOf(result.DeletedIDs), "id_count", len(result.DeletedIDs),
		"home_lock_wait_ms", milliseconds(took.HomeLock), "write_lock_wait_ms", milliseconds(took.WriteLock),
		"decision_ms", milliseconds(took.Decision), "transaction_ms", milliseconds(took.Transaction),
		"cleanup_ms", milliseconds(took.Cleanup), "total_ms", milliseconds(total))
}

// logUnreached tells of those that a bulk delete did not come to: the home failed, or it was cancelled.
func (s *service) logUnreached(ctx context.Context, request deletion.BulkRequest, items []deletion.BulkItem, total time.Duration) {
	if len(items) == 0 {
		return
	}
	var ids []string
	for _, item := range items[:min(len(items), mostLoggedIDs)] {
		ids = append(ids, item.SessionID)
	}
	s.log.Info("deletes not reached", "home", request.ProfileHome, "reason", string(loggedReason(ctx, items[0].Err)),
		"ids", ids, "id_count", len(items), "home_lock_wait_ms", milliseconds(request.Took.HomeLock), "total_ms", milliseconds(total))
}

// logSweep tells of a sweep. Its parts are added up over its transactions.
func (s *service) logSweep(home string, sweep *deletion.Sweep, reason Reason, took deletion.Durations, total time.Duration) {
	s.log.Info("sweep", "home", home, "reason", string(reason), "path", string(sweep.Path),
		"ids", firstOf(sweep.Swept), "id_count", len(sweep.Swept), "skipped_count", len(sweep.Skipped), "transactions", sweep.Transactions,
		"home_lock_wait_ms", milliseconds(took.HomeLock), "write_lock_wait_ms", milliseconds(took.WriteLock),
		"decision_ms", milliseconds(took.Decision), "transaction_ms", milliseconds(took.Transaction),
		"longest_transaction_ms", milliseconds(sweep.LongestHeld),
		"cleanup_ms", milliseconds(took.Cleanup), "total_ms", milliseconds(total))
}

// firstOf gives the ids that a line names; an empty list, not none, where there are none.
func firstOf(ids []string) []string { return nonNil(ids[:min(len(ids), mostLoggedIDs)]) }

// milliseconds are spelled to the microsecond.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e6) / 1e3 }

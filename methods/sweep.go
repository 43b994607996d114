package methods

import (
	"context"
	"time"

	"session-sidecar/internal/deletion"
	"session-sidecar/rpc"
)

type sweepParams struct {
	homeParams
	SessionIDs []SessionID `json:"session_ids" jsonschema:"exactly the sessions to sweep: no delegates, no other segments; one without a row gets its tombstone too"`
}

type sweepResult struct {
	Swept        []string      `json:"swept" jsonschema:"the ids that are retired, in the order asked for"`
	Skipped      []skippedInfo `json:"skipped" jsonschema:"the ids that were left alone; they stop nobody else"`
	Transactions int           `json:"transactions" jsonschema:"in how many transactions it was done"`
	Cleanup      *cleanupInfo  `json:"cleanup,omitempty" jsonschema:"what is left to clean up in the whole home, where that is anything"`
}

type skippedInfo struct {
	SessionID string `json:"session_id" jsonschema:"the id that was left alone"`
	Reason    Reason `json:"reason" jsonschema:"active_turn, receipt_invalid, store_unsupported (its ledger cannot be retired), conversation_incomplete, or cancelled"`
	Detail    string `json:"detail,omitempty" jsonschema:"the reason as one line for a human"`
}

func registerSweep(r *Registry, s *service) {
	register(r, spec[sweepParams, sweepResult]{
		name:    "state_db.sweep_sessions",
		summary: "Retires exactly the sessions named, as housekeeping: those in use are skipped, and no deletion receipt is left.",
		reasons: storeReasonsAnd(
			ReasonWriteGuardUnavailable, ReasonFTSUnavailable, ReasonManifestFailed, ReasonLockTimeout, ReasonActiveTurn, ReasonReceiptInvalid,
			ReasonConversationIncomplete,
		),
		call: s.sweepSessions,
	})
}

// sweepSessions is contract 5d.
func (s *service) sweepSessions(ctx context.Context, p sweepParams) (sweepResult, error) {
	begun, took := time.Now(), deletion.Durations{}
	request := deletion.SweepRequest{Request: s.inHome(p.ProfileHome), SessionIDs: texts(p.SessionIDs)}
	request.Took = &took
	sweep, err := s.deleter.Sweep(ctx, request)
	if err != nil {
		s.logSweep(request.ProfileHome, &deletion.Sweep{}, loggedReason(ctx, err), took, time.Since(begun))
		return sweepResult{}, err
	}
	result := sweepResult{Swept: nonNil(sweep.Swept), Skipped: []skippedInfo{}, Transactions: sweep.Transactions}
	for _, skipped := range sweep.Skipped {
		result.Skipped = append(result.Skipped, s.skippedInfo(ctx, skipped.SessionID, skipped.Why))
	}
	if sweep.Cleanup != nil && !sweep.Cleanup.Complete() {
		result.Cleanup = cleanupInfoOf(*sweep.Cleanup)
	}
	s.counters.sessions.Add(uint64(len(sweep.Swept)))
	s.logSweep(request.ProfileHome, sweep, "", took, time.Since(begun))
	return result, nil
}

func (s *service) skippedInfo(ctx context.Context, id string, why error) skippedInfo {
	if isCancel(ctx, why) {
		return skippedInfo{SessionID: id, Reason: ConditionCancelled}
	}
	reason, known := reasonOf(why)
	if !known {
		s.log.Error("a session could not be swept", "session", id, "error", why)
		return skippedInfo{id, ReasonIOError, rpc.Unexpected}
	}
	return skippedInfo{id, reason, detailOf(why)}
}

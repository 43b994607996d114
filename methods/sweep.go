package methods

import (
	"context"
	"time"

	"session-sidecar/internal/deletion"
)

type sweepParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	SessionIDs  []SessionID `json:"session_ids" jsonschema:"exactly the sessions to sweep: no delegates, no other segments; one without a row gets its tombstone too"`
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

func registerSweep(r *Registry, db *stateDB) {
	register(r, spec[sweepParams, sweepResult]{
		name:    "state_db.sweep_sessions",
		summary: "Retires exactly the sessions named, as housekeeping: those in use are skipped, and no deletion receipt is left.",
		reasons: []Reason{
			ReasonStoreMissing, ReasonStoreUnsupported, ReasonStoreBusy, ReasonStoreCorrupt, ReasonWriteGuardUnavailable,
			ReasonFTSUnavailable, ReasonManifestFailed, ReasonLockTimeout, ReasonIOError, ReasonActiveTurn, ReasonReceiptInvalid,
			ReasonConversationIncomplete,
		},
		call: db.sweepSessions,
	})
}

// sweepSessions is contract 5d.
func (db *stateDB) sweepSessions(ctx context.Context, p sweepParams) (sweepResult, error) {
	begun, took := time.Now(), deletion.Durations{}
	request := deletion.SweepRequest{Request: deletion.Request{
		ProfileHome: string(p.ProfileHome), AgentDir: db.session.agentDir(), BaseHome: db.session.baseHome(), Took: &took,
	}}
	for _, id := range p.SessionIDs {
		request.SessionIDs = append(request.SessionIDs, string(id))
	}
	sweep, err := db.deleter.Sweep(ctx, request)
	if err != nil {
		db.logSweep(request.ProfileHome, &deletion.Sweep{}, loggedReason(ctx, err), took, time.Since(begun))
		return sweepResult{}, conditionOf(err)
	}
	result := sweepResult{Swept: nonNil(sweep.Swept), Skipped: []skippedInfo{}, Transactions: sweep.Transactions}
	for _, s := range sweep.Skipped {
		result.Skipped = append(result.Skipped, db.skippedInfo(ctx, s.SessionID, s.Why))
	}
	if sweep.Cleanup != nil && !sweep.Cleanup.Complete() {
		result.Cleanup = cleanupInfoOf(*sweep.Cleanup)
	}
	db.counters.sessions.Add(uint64(len(sweep.Swept)))
	db.logSweep(request.ProfileHome, sweep, "", took, time.Since(begun))
	return result, nil
}

func (db *stateDB) skippedInfo(ctx context.Context, id string, why error) skippedInfo {
	if isCancel(ctx, why) {
		return skippedInfo{SessionID: id, Reason: ConditionCancelled}
	}
	reason, known := reasonOf(why)
	if !known {
		db.log.Error("a session could not be swept", "session", id, "error", why)
		return skippedInfo{id, ReasonIOError, "unexpected failure; the log has the details"}
	}
	return skippedInfo{id, reason, detailOf(why)}
}

package methods

import (
	"errors"

	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

// deleteResult is wire-compatible with the hosts that exist: ok, deleted_ids, refused (contract 4).
type deleteResult struct {
	OK         bool             `json:"ok" jsonschema:"the rows of this delete are gone and its artifacts are"`
	DeletedIDs []string         `json:"deleted_ids,omitempty" jsonschema:"the ids whose rows are gone; absent where nothing was removed"`
	Refused    Reason           `json:"refused,omitempty" jsonschema:"active_turn or runtime_history_unsupported; reason repeats it"`
	Reason     Reason           `json:"reason,omitempty" jsonschema:"why ok is false"`
	Detail     string           `json:"detail,omitempty" jsonschema:"the reason as one line for a human"`
	Path       statedb.Path     `json:"path,omitempty" jsonschema:"legacy or canonical"`
	Existed    *bool            `json:"existed,omitempty" jsonschema:"whether the requested row was there"`
	Guard      *guardInfo       `json:"guard,omitempty" jsonschema:"what protects the session, for active_turn"`
	Plan       *previewResult   `json:"plan,omitempty" jsonschema:"for plan_changed: what a delete would do now"`
	Cleanup    *cleanupInfo     `json:"cleanup,omitempty" jsonschema:"what is left to clean up in the whole home, older deletes included"`
	Receipt    string           `json:"receipt,omitempty" jsonschema:"the operation id of the deletion receipt; absent where no row was there"`
	Trash      *trashInfo       `json:"trash,omitempty" jsonschema:"with keep_days: by what the conversation can be taken back, and until when"`
	Retained   []leftBehindInfo `json:"retained,omitempty" jsonschema:"what is kept on purpose"`
	LeftBehind []leftBehindInfo `json:"left_behind,omitempty" jsonschema:"what this path does not remove though it concerned the session"`
	FTSStale   []string         `json:"fts_stale,omitempty" jsonschema:"full-text indexes that the Agent has to rebuild"`
	Erase      *eraseInfo       `json:"erase,omitempty" jsonschema:"what of it can still be read in the store's files; absent where nothing was removed"`
}

type guardInfo struct {
	SessionID string            `json:"session_id" jsonschema:"the session that is in use"`
	Kind      statedb.GuardKind `json:"kind"`
	Holder    string            `json:"holder"`
	ExpiresAt *float64          `json:"expires_at,omitempty" jsonschema:"seconds since 1970; absent for a guard that never runs out"`
}

type leftBehindInfo struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Why   string `json:"why"`
}

// answerOf is the answer to a delete, if it succeeded or its reason is one that a caller can act on.
func answerOf(outcome *deletion.Outcome, err error) (result deleteResult, known bool) {
	if err != nil {
		return refusalOf(err)
	}
	return resultOf(outcome), true
}

// resultOf is the answer to a delete whose rows are gone.
func resultOf(o *deletion.Outcome) deleteResult {
	result := deleteResult{
		OK: !o.Stuck, DeletedIDs: o.Plan.IDs(), Path: o.Plan.Path, Existed: &o.Plan.Existed, FTSStale: o.Plan.StaleIndexes,
		Cleanup: cleanupInfoOf(o.Cleanup), Erase: eraseInfoOf(statedb.Erasure{Indexes: statedb.IndexesUnasked, WAL: statedb.LogUnasked}, o),
	}
	if o.Stuck {
		result.Reason = ReasonCleanupPending
		result.Detail = "the rows are gone, but not all of their files"
		if o.Cleanup.Failed != nil {
			result.Detail += ": " + detailOf(o.Cleanup.Failed)
		}
	}
	if o.Plan.Receipt != nil {
		result.Receipt = o.Plan.Receipt.OperationID
	}
	if o.Kept != nil {
		result.Trash = &trashInfo{OperationID(o.Kept.OperationID), o.Kept.KeepUntil}
	}
	result.Retained, result.LeftBehind = leftBehindInfos(o.Plan.Retained), leftBehindInfos(o.Plan.LeftBehind)
	return result
}

// refusalOf is the answer to a delete that changed nothing, if its reason is one that a caller can act on.
func refusalOf(err error) (result deleteResult, known bool) {
	reason, known := reasonOf(err)
	result = deleteResult{Reason: reason, Detail: detailOf(err)}
	if refusals[reason] {
		result.Refused = reason
	}
	var failure *statedb.Error
	if errors.As(err, &failure) {
		result.Path = failure.Path
		if g := failure.Guard; g != nil {
			guard := guardOf(*g)
			result.Guard = &guard
		}
	}
	var changed *deletion.PlanChanged
	if errors.As(err, &changed) {
		plan := previewOf(changed.Preview)
		result.Plan = &plan
	}
	return result, known
}

func guardOf(g statedb.Guard) guardInfo { return guardInfo{g.SessionID, g.Kind, g.Holder, g.ExpiresAt} }

func leftBehindInfos(left []statedb.Counted) []leftBehindInfo {
	var infos []leftBehindInfo
	for _, l := range left {
		infos = append(infos, leftBehindInfo(l))
	}
	return infos
}

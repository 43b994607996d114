package methods

import (
	"errors"

	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

// deleteResult is wire-compatible with the hosts that exist: ok, deleted_ids, refused (contract 4).
type deleteResult struct {
	OK         bool             `json:"ok" jsonschema:"the rows of this delete are gone and its artifacts are"`
	DeletedIDs []string         `json:"deleted_ids,omitempty" jsonschema:"the ids whose rows are gone; absent where nothing was removed. Legacy path: newest segment first, each followed by its delegates; canonical path: the one that was asked for (with whole_conversation the first segment), then the others sorted"`
	Refused    Reason           `json:"refused,omitempty" jsonschema:"active_turn or runtime_history_unsupported, for older hosts; reason repeats it"`
	Reason     Reason           `json:"reason,omitempty" jsonschema:"why ok is false, a stable word"`
	Detail     string           `json:"detail,omitempty" jsonschema:"the reason as one line of at most 500 characters, for the log and for whoever helps"`
	Path       statedb.Path     `json:"path,omitempty" jsonschema:"legacy; or canonical, where the store has the runtime ledger"`
	Existed    *bool            `json:"existed,omitempty" jsonschema:"whether the requested row was there; a session that is not there deletes fine"`
	Guard      *guardInfo       `json:"guard,omitempty" jsonschema:"for active_turn: what protects the session"`
	Plan       *previewResult   `json:"plan,omitempty" jsonschema:"for plan_changed: what a delete would do now, as state_db.preview_delete tells it"`
	Cleanup    *cleanupInfo     `json:"cleanup,omitempty" jsonschema:"what is left to clean up in the whole home, older deletes included; theirs never make this one fail"`
	Receipt    string           `json:"receipt,omitempty" jsonschema:"the operation_id of the deletion receipt; absent where no row was there"`
	Trash      *trashInfo       `json:"trash,omitempty" jsonschema:"with keep_days: by what the conversation can be taken back, and until when; absent where no row was there"`
	Retained   []leftBehindInfo `json:"retained,omitempty" jsonschema:"what the canonical path keeps on purpose, such as the answers to settled requests"`
	LeftBehind []leftBehindInfo `json:"left_behind,omitempty" jsonschema:"what the path does not remove though it concerned the session: routes that still name it, prompts that no session uses any more"`
	FTSStale   []string         `json:"fts_stale,omitempty" jsonschema:"full-text indexes that the Agent has to rebuild, because this build lacks their tokenizer"`
	Erase      *eraseInfo       `json:"erase,omitempty" jsonschema:"what can still be read of it in the store's files; absent where nothing was removed"`
}

type guardInfo struct {
	SessionID string            `json:"session_id" jsonschema:"the session that is in use"`
	Kind      statedb.GuardKind `json:"kind" jsonschema:"turn_lease, compression_lock, admission (a request that is not settled), or worker"`
	Holder    string            `json:"holder" jsonschema:"who holds it, as the Agent wrote it; for admission and worker the id of the request or of the execution"`
	ExpiresAt *float64          `json:"expires_at,omitempty" jsonschema:"seconds since 1970; absent for a guard that never runs out"`
}

type leftBehindInfo struct {
	Kind  string `json:"kind" jsonschema:"what it is, a stable word: final_responses, worker_results and mutation_receipts are retained; gateway_routing, system_prompts and gateway.local_legacy are left behind"`
	Count int    `json:"count" jsonschema:"how many"`
	Why   string `json:"why" jsonschema:"why it stays, as one line for a human"`
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
	if o.Entry != nil {
		result.Trash = &trashInfo{OperationID(o.Entry.OperationID), o.Entry.KeepUntil}
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
	if failure, is := errors.AsType[*statedb.Error](err); is {
		result.Path = failure.Path
		if g := failure.Guard; g != nil {
			result.Guard = new(guardOf(*g))
		}
	}
	if changed, is := errors.AsType[*deletion.PlanChanged](err); is {
		result.Plan = new(previewOf(changed.Preview))
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

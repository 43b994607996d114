package methods

import (
	"context"
	"errors"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

type deleteParams struct {
	deleteOptions
	ExpectedIDs *[]string `json:"expected_ids,omitempty" jsonschema:"what the user agreed to, in any order; any other set is refused with plan_changed"`
	SessionID   SessionID `json:"session_id"`
	afterOptions
}

// afterOptions say what is to be done beside a delete. An export takes none of them.
type afterOptions struct {
	KeepDays   *KeepDays   `json:"keep_days,omitempty" jsonschema:"for how many days the conversation can be taken back; not at all where absent"`
	PurgeIndex LiteralTrue `json:"purge_index,omitempty" jsonschema:"true: afterwards rid the full-text indexes of deleted words, and empty the store's log; anything else is false"`
}

// deleteOptions are what every kind of delete takes.
type deleteOptions struct {
	ProfileHome  ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	Lineage      LiteralTrue `json:"include_compression_lineage,omitempty" jsonschema:"true: delete the segments that continue the session too; anything else is false"`
	Conversation LiteralTrue `json:"whole_conversation,omitempty" jsonschema:"true: start at the conversation's first segment, with the lineage; anything else is false"`
}

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

type cleanupInfo struct {
	Complete   bool          `json:"complete"`
	Pending    []pendingInfo `json:"pending"`
	Unreadable []string      `json:"unreadable" jsonschema:"names of manifests that cannot be read"`
}

type pendingInfo struct {
	SessionID string        `json:"session_id,omitempty" jsonschema:"absent where it is not known: a file that an older delete left"`
	Cause     cleanup.Cause `json:"cause"`
}

type leftBehindInfo struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Why   string `json:"why"`
}

// deleteReasons are all that a delete's result may carry.
var deleteReasons = []Reason{
	ReasonActiveTurn, ReasonRuntimeHistory, ReasonStoreMissing, ReasonStoreUnsupported, ReasonStoreBusy, ReasonStoreCorrupt,
	ReasonWriteGuardUnavailable, ReasonLineageAmbiguous, ReasonPlanChanged, ReasonFTSUnavailable, ReasonManifestFailed, ReasonCleanupPending,
	ReasonLockTimeout, ReasonIOError, ReasonReceiptInvalid,
}

// deleteCLISession is contract 4. It refuses inside its result; only a cancel and an unexpected failure are errors.
func (db *stateDB) deleteCLISession(ctx context.Context, p deleteParams) (deleteResult, error) {
	begun, took := time.Now(), deletion.Durations{}
	request := db.request(p)
	request.Took = &took
	outcome, err := db.deleter.Delete(ctx, byUser, request)
	result, answered := db.note(ctx, request.ProfileHome, request.SessionID, outcome, err, took, time.Since(begun))
	if !answered {
		return deleteResult{}, err
	}
	db.announceReceipt(outcome)
	if bool(p.PurgeIndex) && outcome != nil {
		result.Erase = eraseInfoOf(db.purgeAfter(ctx, p.ProfileHome), outcome)
	}
	return result, nil
}

func (db *stateDB) request(p deleteParams) deletion.Request {
	request := deletion.Request{
		ProfileHome:       string(p.ProfileHome),
		SessionID:         string(p.SessionID),
		WithLineage:       bool(p.Lineage),
		WholeConversation: bool(p.Conversation),
		AgentDir:          db.session.agentDir(),
		BaseHome:          db.session.baseHome(),
	}
	if p.KeepDays != nil {
		request.KeepDays = int(*p.KeepDays)
	}
	if p.ExpectedIDs != nil {
		request.ExpectedIDs = nonNil(*p.ExpectedIDs)
	}
	return request
}

// note gives the answer to a delete, counts it and logs it. One that was cancelled, or failed unexpectedly, has none and is not
// counted; it is logged all the same.
func (db *stateDB) note(
	ctx context.Context, home, session string, outcome *deletion.Outcome, err error, took deletion.Durations, total time.Duration,
) (result deleteResult, answered bool) {
	result, answered = answerOf(outcome, err)
	switch {
	case isCancel(ctx, err):
		result, answered = deleteResult{Reason: ConditionCancelled}, false
	case !answered:
		result.Reason = unexpectedFailure
	default:
		db.count(result)
	}
	db.logDelete(home, session, result, took, total)
	return result, answered
}

// count counts a delete that was answered.
func (db *stateDB) count(result deleteResult) {
	if result.DeletedIDs == nil {
		db.counters.refused.Add(1)
	} else {
		db.counters.deletes.Add(1)
		db.counters.sessions.Add(uint64(len(result.DeletedIDs)))
		if !result.OK {
			db.counters.pending.Add(1)
		}
	}
}

// answerOf is the answer to a delete, if it succeeded or its reason is one that a caller can act on.
func answerOf(outcome *deletion.Outcome, err error) (result deleteResult, known bool) {
	if err != nil {
		return refusalOf(err)
	}
	return resultOf(outcome), true
}

func isCancel(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
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

func cleanupInfoOf(r cleanup.Report) *cleanupInfo {
	return &cleanupInfo{Complete: r.Complete(), Pending: pendingInfos(r.Pending), Unreadable: nonNil(r.Unreadable)}
}

func pendingInfos(pending []cleanup.Pending) []pendingInfo {
	infos := make([]pendingInfo, len(pending))
	for i, p := range pending {
		infos[i] = pendingInfo{p.SessionID, p.Cause}
	}
	return infos
}

func leftBehindInfos(left []statedb.Counted) []leftBehindInfo {
	var infos []leftBehindInfo
	for _, l := range left {
		infos = append(infos, leftBehindInfo(l))
	}
	return infos
}

// nonNil makes an absent list an empty one: these are always there on the wire.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

package methods

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

type deleteParams struct {
	ProfileHome  ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	SessionID    SessionID   `json:"session_id"`
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
	Cleanup    *cleanupInfo     `json:"cleanup,omitempty" jsonschema:"what is left to clean up in the whole home, older deletes included"`
	LeftBehind []leftBehindInfo `json:"left_behind,omitempty" jsonschema:"what this path does not remove though it concerned the session"`
	FTSStale   []string         `json:"fts_stale,omitempty" jsonschema:"full-text indexes that the Agent has to rebuild"`
}

type guardInfo struct {
	SessionID string            `json:"session_id" jsonschema:"the session that is in use"`
	Kind      statedb.GuardKind `json:"kind"`
	Holder    string            `json:"holder"`
	ExpiresAt float64           `json:"expires_at" jsonschema:"seconds since 1970"`
}

type cleanupInfo struct {
	Complete   bool          `json:"complete"`
	Pending    []pendingInfo `json:"pending"`
	Unreadable []string      `json:"unreadable" jsonschema:"names of manifests that cannot be read"`
}

type pendingInfo struct {
	SessionID string        `json:"session_id"`
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
	ReasonWriteGuardUnavailable, ReasonLineageAmbiguous, ReasonFTSUnavailable, ReasonManifestFailed, ReasonCleanupPending,
	ReasonLockTimeout, ReasonIOError,
}

// stateDB is what the methods of the namespace state_db share.
type stateDB struct {
	log      *slog.Logger
	session  *session
	deleter  *deletion.Deleter
	counters *counters
}

func registerStateDB(r *Registry, db *stateDB) {
	register(r, spec[deleteParams, deleteResult]{
		name: "state_db.delete_cli_session", summary: "Deletes a session, its delegates and, if asked for, the segments of its conversation.",
		lenient: true, reasons: deleteReasons, before: refuseUnbuilt, call: db.deleteCLISession,
	})
}

// refuseUnbuilt refuses the options of the contract that this build does not have. To ignore them, as unknown fields are,
// would delete what nobody agreed to, or lose what was to be kept.
func refuseUnbuilt(_ context.Context, fields map[string]json.RawMessage) error {
	for field, value := range fields {
		for _, option := range []string{"expected_ids", "keep_days", "purge_index"} {
			switch {
			case !strings.EqualFold(field, option):
			case field != option:
				return invalidParams("the field %q is spelled %q", option, field)
			case option != "purge_index" || string(value) == "true": // this one is asked for by a literal true alone
				return invalidParams("this version has no option %q", option)
			}
		}
	}
	return nil
}

// deleteCLISession is contract 4. It refuses inside its result; only a cancel and an unexpected failure are errors.
func (db *stateDB) deleteCLISession(ctx context.Context, p deleteParams) (deleteResult, error) {
	begun := time.Now()
	outcome, err := db.deleter.Delete(ctx, deletion.Request{
		ProfileHome:       string(p.ProfileHome),
		SessionID:         string(p.SessionID),
		WithLineage:       bool(p.Lineage),
		WholeConversation: bool(p.Conversation),
		AgentDir:          db.session.agentDir(),
	})
	var result deleteResult
	if err == nil {
		result = resultOf(outcome)
		db.counters.deletes.Add(1)
		db.counters.sessions.Add(uint64(len(outcome.DeletedIDs)))
		if outcome.Stuck {
			db.counters.pending.Add(1)
		}
	} else {
		var known bool
		if result, known = refusalOf(err); !known || isCancel(ctx, err) {
			return deleteResult{}, err
		}
		db.counters.refused.Add(1)
	}
	db.log.Info("delete", "home", string(p.ProfileHome), "session", string(p.SessionID), "ok", result.OK,
		"reason", string(result.Reason), "path", string(result.Path), "ids", len(result.DeletedIDs),
		"ms", time.Since(begun).Milliseconds())
	return result, nil
}

func isCancel(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// resultOf is the answer to a delete whose rows are gone.
func resultOf(o *deletion.Outcome) deleteResult {
	result := deleteResult{
		OK: !o.Stuck, DeletedIDs: o.DeletedIDs, Path: o.Path, Existed: &o.Existed, FTSStale: o.Removal.StaleIndexes,
		Cleanup: &cleanupInfo{
			Complete: o.Cleanup.Complete(), Pending: pendingInfos(o.Cleanup.Pending), Unreadable: nonNil(o.Cleanup.Unreadable),
		},
	}
	if o.Stuck {
		result.Reason = ReasonCleanupPending
		result.Detail = "the rows are gone, but not all of their files"
		if o.Cleanup.Failed != nil {
			result.Detail += ": " + detailOf(o.Cleanup.Failed)
		}
	}
	for _, left := range o.Removal.LeftBehind {
		result.LeftBehind = append(result.LeftBehind, leftBehindInfo(left))
	}
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
			result.Guard = &guardInfo{g.SessionID, g.Kind, g.Holder, g.ExpiresAt}
		}
	}
	return result, known
}

func pendingInfos(pending []cleanup.Pending) []pendingInfo {
	infos := make([]pendingInfo, len(pending))
	for i, p := range pending {
		infos[i] = pendingInfo{p.SessionID, p.Cause}
	}
	return infos
}

// nonNil makes an absent list an empty one: these are always there on the wire.
func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

package methods

import (
	"context"
	"time"

	"session-sidecar/internal/deletion"
)

type deleteParams struct {
	deleteOptions
	ExpectedIDs *[]string `json:"expected_ids,omitempty" jsonschema:"the ids that the user agreed to, from a preview, in any order; any other set is refused with plan_changed"`
	SessionID   SessionID `json:"session_id" jsonschema:"the session to delete"`
	afterOptions
}

// afterOptions say what is to be done beside a delete. An export takes none of them.
type afterOptions struct {
	KeepDays   *KeepDays   `json:"keep_days,omitempty" jsonschema:"keep what goes in the trash for so many days, so that it can be taken back; where absent it is gone at once"`
	PurgeIndex LiteralTrue `json:"purge_index,omitempty" jsonschema:"true: afterwards rid the full-text indexes of deleted words, and empty the store's log; anything else is false"`
}

// deleteOptions are what every kind of delete takes.
type deleteOptions struct {
	homeParams
	Lineage      LiteralTrue `json:"include_compression_lineage,omitempty" jsonschema:"true: take the segments that continue the session too, as the canonical path always does; anything else is false"`
	Conversation LiteralTrue `json:"whole_conversation,omitempty" jsonschema:"true: start at the conversation's first segment, with the lineage; anything else is false"`
}

// deleteReasons are all that a delete's result may carry.
var deleteReasons = storeReasonsAnd(
	ReasonActiveTurn, ReasonRuntimeHistory, ReasonWriteGuardUnavailable, ReasonLineageAmbiguous, ReasonPlanChanged, ReasonFTSUnavailable,
	ReasonManifestFailed, ReasonCleanupPending, ReasonLockTimeout, ReasonReceiptInvalid,
)

func registerDelete(r *Registry, s *service) {
	register(r, spec[deleteParams, deleteResult]{
		name: "state_db.delete_cli_session", summary: "Deletes a session, its delegates and, if asked for, the segments of its conversation.",
		lenient: true, refusesInside: true, reasons: deleteReasons, streams: []streamed{purgeStep}, call: s.deleteCLISession,
	})
}

// deleteCLISession is contract 4. It refuses inside its result; only a cancel and an unexpected failure are errors.
func (s *service) deleteCLISession(ctx context.Context, p deleteParams) (deleteResult, error) {
	begun, took := time.Now(), deletion.Durations{}
	request := s.request(p)
	request.Took = &took
	outcome, err := s.deleter.Delete(ctx, byUser, request)
	result, answered := s.note(ctx, request.ProfileHome, request.SessionID, outcome, err, took, time.Since(begun))
	if !answered {
		return deleteResult{}, err
	}
	s.announceReceipt(outcome)
	if bool(p.PurgeIndex) && outcome != nil {
		result.Erase = eraseInfoOf(s.purgeAfter(ctx, p.ProfileHome), outcome)
	}
	return result, nil
}

// request is what a delete of one session asks for.
func (s *service) request(p deleteParams) deletion.Request {
	request := s.requestFor(p.deleteOptions, p.afterOptions)
	request.SessionID = string(p.SessionID)
	if p.ExpectedIDs != nil {
		request.ExpectedIDs = nonNil(*p.ExpectedIDs)
	}
	return request
}

// requestFor is what every kind of delete asks for, without the sessions.
func (s *service) requestFor(o deleteOptions, after afterOptions) deletion.Request {
	request := s.inHome(o.ProfileHome)
	request.WithLineage, request.WholeConversation = bool(o.Lineage), bool(o.Conversation)
	if after.KeepDays != nil {
		request.KeepDays = int(*after.KeepDays)
	}
	return request
}

// note gives the answer to a delete, counts it and logs it. One that was cancelled, or failed unexpectedly, has none and is not
// counted; it is logged all the same.
func (s *service) note(
	ctx context.Context, home, session string, outcome *deletion.Outcome, err error, took deletion.Durations, total time.Duration,
) (result deleteResult, answered bool) {
	result, answered = answerOf(outcome, err)
	switch {
	case isCancel(ctx, err):
		result, answered = deleteResult{Reason: ConditionCancelled}, false
	case !answered:
		result.Reason = unexpectedFailure
	default:
		s.counters.count(result)
	}
	s.logDelete(home, session, result, took, total)
	return result, answered
}

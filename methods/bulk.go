package methods

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"session-sidecar/internal/deletion"
	"session-sidecar/rpc"
)

type bulkParams struct {
	deleteOptions
	SessionIDs  []SessionID         `json:"session_ids" jsonschema:"the sessions to delete, in this order"`
	ExpectedIDs map[string][]string `json:"expected_ids,omitempty" jsonschema:"by session id, what the user agreed to for each: as for state_db.delete_cli_session"`
	afterOptions
}

type bulkResult struct {
	Results   []bulkItem `json:"results" jsonschema:"one for each of session_ids, in their order"`
	Cancelled bool       `json:"cancelled" jsonschema:"whether a cancel left some of them alone"`
}

type bulkItem struct {
	SessionID string `json:"session_id" jsonschema:"the one of session_ids that this is about"`
	TakenBy   string `json:"taken_by,omitempty" jsonschema:"the id whose delete took this one with it, or that is listed twice; then nothing else is said but ok"`
	deleteResult
}

// progressEvent is the data of a stream frame "progress" of many deletes.
type progressEvent struct {
	Done      int    `json:"done" jsonschema:"how many of session_ids are settled, deleted or not"`
	Total     int    `json:"total" jsonschema:"how many there are"`
	SessionID string `json:"session_id" jsonschema:"the one that was settled last"`
}

var bulkProgress = event[progressEvent]{"progress", "Another session is settled."}

func registerBulk(r *Registry, s *service) {
	register(r, spec[bulkParams, bulkResult]{
		name: "state_db.delete_sessions", summary: "Deletes many sessions, one transaction each, with progress.",
		refusesInside: true, reasons: deleteReasons, streams: []streamed{bulkProgress, purgeStep}, call: s.deleteSessions,
	})
}

// deleteSessions is contract 5d. Each item refuses inside itself; only a cancel before anything was deleted, and an
// unexpected failure, are errors.
func (s *service) deleteSessions(ctx context.Context, p bulkParams) (bulkResult, error) {
	named := map[SessionID]bool{}
	for _, id := range p.SessionIDs {
		named[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(p.ExpectedIDs)) {
		if !named[SessionID(id)] {
			return bulkResult{}, invalidParams("expected_ids names %s, which session_ids does not", rpc.Quote(id))
		}
	}
	request := deletion.BulkRequest{
		Request:     s.requestFor(p.deleteOptions, p.afterOptions),
		SessionIDs:  texts(p.SessionIDs),
		ExpectedIDs: p.ExpectedIDs,
	}
	last, reached := time.Now(), 0
	request.Took = &deletion.Durations{}
	items := s.deleter.DeleteMany(ctx, byUser, request, func(done int, item deletion.BulkItem) {
		if item.TakenBy == "" {
			s.note(ctx, request.ProfileHome, item.SessionID, item.Outcome, item.Err, item.Took, time.Since(last))
		} else {
			s.log.Info("taken along", "home", request.ProfileHome, "session", item.SessionID, "taken_by", item.TakenBy)
		}
		last, reached = time.Now(), done
		s.announceReceipt(item.Outcome)
		bulkProgress.send(ctx, s, progressEvent{done, len(request.SessionIDs), item.SessionID})
	})
	s.logUnreached(ctx, request, items[reached:], time.Since(last))
	result, err := s.bulkAnswer(ctx, items)
	if err == nil && bool(p.PurgeIndex) {
		s.purgeAfterAll(ctx, p.ProfileHome, items, result.Results)
	}
	return result, err
}

// bulkAnswer puts the items together. A cancel or an unexpected failure before anything was deleted is the call's own error;
// after that, what was done must be told.
func (s *service) bulkAnswer(ctx context.Context, items []deletion.BulkItem) (bulkResult, error) {
	result := bulkResult{Results: []bulkItem{}}
	deleted := false
	var cancelled, unexpected error
	for _, item := range items {
		answer := bulkItem{SessionID: item.SessionID, TakenBy: item.TakenBy}
		switch {
		case item.TakenBy != "":
			answer.OK = true
		case item.Err != nil && isCancel(ctx, item.Err):
			cancelled = item.Err
			answer.Reason = ConditionCancelled
		default:
			known := false
			if answer.deleteResult, known = answerOf(item.Outcome, item.Err); !known {
				unexpected = item.Err
				answer.Reason, answer.Detail = ReasonIOError, rpc.Unexpected
			}
		}
		deleted = deleted || item.Outcome != nil
		result.Results = append(result.Results, answer)
	}
	result.Cancelled = cancelled != nil
	if !deleted && (cancelled != nil || unexpected != nil) {
		return bulkResult{}, errors.Join(unexpected, cancelled)
	}
	if unexpected != nil {
		s.log.Error("a delete failed unexpectedly", "error", unexpected)
	}
	return result, nil
}

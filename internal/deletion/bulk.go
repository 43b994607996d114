package deletion

import (
	"context"
	"errors"

	"session-sidecar/cleanup"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/statedb"
)

// BulkRequest is many deletes in one home, as a caller asked for them.
type BulkRequest struct {
	Request                         // what all of them share; its SessionID and ExpectedIDs are not looked at
	SessionIDs  []string            // in the order in which they are deleted
	ExpectedIDs map[string][]string // by session id: what the user agreed to
}

// BulkItem is what became of one of the ids: Outcome, TakenBy, or Err.
type BulkItem struct {
	SessionID string
	Outcome   *Outcome
	TakenBy   string // the id whose delete took this one with it, or the same id where it is listed twice
	Err       error  // as Delete gives it; the context's where it was not reached
	Took      Durations
}

// DeleteMany deletes one id after the other under one lock, one transaction and one receipt each (contract 5d, 8). A refusal of
// one does not stop the others; a failure of the home does, and the rest repeat it. A cancel ends it between two, or in one
// whose commit has not begun: what was not reached has the context's error. progress is told after each id that was dealt with
// how many are.
func (d *Deleter) DeleteMany(
	ctx context.Context, by Provenance, request BulkRequest, progress func(done int, item BulkItem),
) []BulkItem {
	items := make([]BulkItem, len(request.SessionIDs))
	next := 0
	finish := func(item BulkItem) {
		items[next] = item
		next++
		progress(next, item)
	}
	err := d.inHome(ctx, request.Request, func(h lockedHome) error {
		takenBy := map[string]string{}
		for next < len(request.SessionIDs) {
			id := request.SessionIDs[next]
			if by, ok := takenBy[id]; ok {
				finish(BulkItem{SessionID: id, TakenBy: by})
				continue
			}
			one, took := request.Request, Durations{}
			if next == 0 {
				took = *request.durations() // of the locks, which are taken once for all
			}
			one.Took = &took
			one.SessionID, one.ExpectedIDs = id, without(request.ExpectedIDs[id], takenBy)
			outcome, err := d.deleteOne(ctx, h, by, one)
			if outcome == nil && errors.Is(err, context.Canceled) && ctx.Err() != nil {
				return err
			}
			if err != nil && failsTheHome(err) {
				return err
			}
			if outcome != nil {
				for _, gone := range outcome.Plan.IDs() {
					takenBy[gone] = id
				}
			}
			finish(BulkItem{SessionID: id, Outcome: outcome, Err: err, Took: took})
		}
		return nil
	})
	for ; next < len(items); next++ {
		items[next] = BulkItem{SessionID: request.SessionIDs[next], Err: err}
	}
	return items
}

// without leaves out what this call has deleted already: the user agreed to it there, and it is no change by anybody else.
func without(expected []string, takenBy map[string]string) []string {
	if expected == nil {
		return nil
	}
	rest := []string{}
	for _, id := range expected {
		if _, taken := takenBy[id]; !taken {
			rest = append(rest, id)
		}
	}
	return rest
}

// failsTheHome tells whether an error would meet every other id of the home as well (contract 5d).
func failsTheHome(err error) bool {
	for _, kind := range []error{
		statedb.ErrIO, statedb.ErrCorrupt, statedb.ErrMissing,
		cleanup.ErrUnusableFolder, cleanup.ErrNotListed, locks.ErrTimeout, locks.ErrUnusable, trash.ErrUnusable,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

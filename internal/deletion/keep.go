package deletion

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// keeper writes what a delete takes into the trash, for a request that asks for it, before anybody has to wait for the write lock,
// and proves under it that this is what goes (contract 10.1). Without such a request it does nothing.
type keeper struct {
	days      int
	operation string
	folder    *trash.Folder
	look      *statedb.Look
	entry     *trash.Writer
	copied    *statedb.Copy
	written   *trash.Header
	holds     bool // nobody has committed since the look
	stays     bool // the rows are gone, or may be: the entry is all that is left of them
}

// day is what keep_days counts in.
const day = 24 * time.Hour

// newKeeper writes the entry from a snapshot. Where that already shows that the delete will be refused, or that there is nothing to
// keep, it writes none: the decision under the lock tells why, or comes to another one.
func newKeeper(
	ctx context.Context, h lockedHome, request Request, wanted statedb.Request, look *statedb.Look,
) (*keeper, error) {
	k := &keeper{days: request.KeepDays, operation: wanted.OperationID, look: look}
	if k.days == 0 {
		return k, nil
	}
	if err := k.copyRows(ctx, h, wanted); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func (k *keeper) copyRows(ctx context.Context, h lockedHome, wanted statedb.Request) (err error) {
	if k.folder, err = trash.Open(h.path); err != nil {
		return err
	}
	plan, err := k.look.PlanCopy(ctx, wanted)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || plan.Refusal != nil || !plan.Found() {
		return nil //nolint:nilerr // what is decided under the lock counts
	}
	return k.write(plan, func(entry *trash.Writer) (err error) {
		k.copied, err = k.look.Copy(ctx, plan, entry)
		return err
	})
}

// write writes the entry, and leaves none where it fails.
func (k *keeper) write(plan *statedb.Plan, rows func(*trash.Writer) error) error {
	if err := refuseUnspelled(plan); err != nil {
		return err
	}
	now := time.Now()
	header := trash.Header{
		OperationID: k.operation, DeletedAt: trash.Seconds(now), KeepUntil: trash.Seconds(now.Add(time.Duration(k.days) * day)),
		DeletedIDs: plan.IDs(), Title: plan.Title(), MessageCount: plan.Messages(),
	}
	entry, err := k.folder.Begin(header)
	if err != nil {
		return err
	}
	if err := rows(entry); err != nil {
		entry.Discard()
		return entry.Failure(asUnkeepable(err))
	}
	if err := entry.Commit(); err != nil {
		return err
	}
	k.entry, k.written = entry, &header
	return nil
}

// refuseUnspelled refuses to keep an id that is no UTF-8. The header could not spell it, and then nobody could read the entry: better
// nothing is deleted.
func refuseUnspelled(plan *statedb.Plan) error {
	for _, id := range plan.IDs() {
		if !utf8.ValidString(id) {
			return &trash.Error{Kind: trash.ErrUnkeepable, Name: trash.FolderName, Cause: fmt.Errorf("the id %q cannot be kept", id)}
		}
	}
	return nil
}

// asUnkeepable is the error of rows that cannot be kept as one of this conversation alone.
func asUnkeepable(err error) error {
	if errors.Is(err, statedb.ErrNoCopy) {
		return &trash.Error{Kind: trash.ErrUnkeepable, Name: trash.FolderName, Cause: err}
	}
	return err
}

// prove makes sure that the entry holds what goes: one that does not is written once more, under the lock.
func (k *keeper) prove(ctx context.Context, tx *statedb.Tx, plan *statedb.Plan) error {
	if k.days == 0 {
		return nil
	}
	if k.entry != nil && !k.holds {
		holds, err := tx.Holds(ctx, plan, k.copied)
		if err != nil {
			return err
		}
		k.holds = holds
	}
	switch {
	case k.entry != nil && k.holds:
		return nil
	case k.entry != nil:
		k.entry.Discard()
		k.entry, k.written = nil, nil
	}
	if !plan.Found() {
		return nil
	}
	if err := tx.Describe(ctx, plan); err != nil {
		return err
	}
	return k.write(plan, func(entry *trash.Writer) error { return tx.WriteRows(ctx, plan, entry) })
}

// close takes the entry of a delete that was certainly not done away again.
func (k *keeper) close() {
	if k.entry != nil && !k.stays {
		k.entry.Discard()
	}
	if k.folder != nil {
		k.folder.Close()
	}
}

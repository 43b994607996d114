package deletion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// Restored is a conversation that is back.
type Restored struct {
	*statedb.Returned
	StaleIndexes []string // full-text indexes that the Agent has to rebuild
	EntryLeft    bool     // the entry could not be removed; it stands for nothing any more
}

// Restore brings a kept conversation back under new ids, in one transaction under the home's locks; then its entry goes. It writes no
// deletion receipt and takes none back: the delete did happen. Errors are those of home, locks, statedb and trash; then nothing was
// changed.
func (d *Deleter) Restore(ctx context.Context, request Request, operation string) (restored *Restored, err error) {
	err = d.inHome(ctx, request, func(h lockedHome) error {
		folder, err := trash.Open(h.path)
		if err != nil {
			return err
		}
		defer folder.Close()
		entry, err := folder.Check(ctx, operation) // all of it, before anybody waits
		if err != nil {
			return err
		}
		trace, err := d.isTrace(ctx, h.path, folder, entry.Header)
		if err != nil {
			return err
		}
		if trace { // of a delete that another process did not come to the end of, or of a restore
			d.removeLeft(h, folder, operation)
			return &trash.Error{Kind: trash.ErrNotFound, Name: operation}
		}
		if restored, err = d.restore(ctx, h, request, folder, entry); err != nil {
			return err
		}
		faultpoint.Hit(faultpoint.RestoreDone)
		restored.EntryLeft = !d.removeLeft(h, folder, operation)
		return nil
	})
	return restored, err
}

func (d *Deleter) restore(ctx context.Context, h lockedHome, request Request, folder *trash.Folder, entry trash.Entry) (*Restored, error) {
	tx, err := statedb.Begin(ctx, h.store, d.patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	agent, err := statedb.LookAtAgent(request.AgentDir)
	if err != nil {
		return nil, err
	}
	back, err := tx.Restore(ctx, agent, restoredIDs(entry.OperationID, entry.Sessions))
	if errors.Is(err, statedb.ErrRestored) {
		return nil, &trash.Error{Kind: trash.ErrNotFound, Name: entry.OperationID, Cause: err}
	}
	if err != nil {
		return nil, err
	}
	err = folder.Read(ctx, entry.OperationID, func(row trash.Row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return back.Add(ctx, row.Table, row.Cells)
	})
	r := &Restored{StaleIndexes: back.StaleIndexes}
	if err == nil {
		r.Returned, err = back.Finish(ctx)
	}
	if errors.Is(err, statedb.ErrNotKept) {
		err = &trash.Error{Kind: trash.ErrDamaged, Name: entry.OperationID, Cause: err}
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, tx.Commit()
}

// restoredPrefix begins the ids of sessions that came back.
const restoredPrefix = "restored-"

// restoredID is the new id of a session. It follows from the delete and the old id, so that a crash between the commit and the end of
// the entry never brings a conversation back twice.
func restoredID(operation, id string) string {
	sum := sha256.Sum256([]byte(operation + "\x00" + id))
	return restoredPrefix + hex.EncodeToString(sum[:8])
}

func restoredIDs(operation string, ids []string) map[string]string {
	renamed := map[string]string{}
	for _, id := range ids {
		renamed[id] = restoredID(operation, id)
	}
	return renamed
}

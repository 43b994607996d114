package deletion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// This file gives kept conversations back and takes entries away (contract 10).

// Restored is a conversation that is back.
type Restored struct {
	*statedb.Returned
	StaleIndexes []string // full-text indexes that the Agent has to rebuild
	EntryLeft    bool     // the entry could not be removed; it stands for nothing any more
}

// Purged is what a purge did.
type Purged struct {
	Entries    int
	Unreadable []string // names of entries that stay, since nobody named them; only of a purge of all
}

// removeEntriesOf removes the entries that sessions have come back from, where a crash has left them: who deletes what was restored
// must not find it in the trash again. Only where such a session is live, or was, does its entry stand for nothing: then a rollback loses
// nothing. Those of the ids that have not come back yet are awaited: who deletes one takes no entry along, and must not bar its way. What
// cannot be read says nothing of an id and stops no delete.
func (d *Deleter) removeEntriesOf(ctx context.Context, h lockedHome, ids []string) (awaited []string, err error) {
	restored := map[string]bool{}
	for _, id := range ids {
		if strings.HasPrefix(id, restoredPrefix) {
			restored[id] = true
		}
	}
	if len(restored) == 0 {
		return nil, nil
	}
	folder, err := trash.Open(h.path)
	if err != nil {
		return nil, nil //nolint:nilerr // no entry of one of the ids was seen
	}
	defer folder.Close()
	headers, err := folder.Headers()
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	for _, header := range headers {
		var named []string
		for _, id := range restoredIDs(header.OperationID, header.DeletedIDs) {
			if restored[id] {
				named = append(named, id)
			}
		}
		if len(named) == 0 {
			continue
		}
		trace, err := d.isTrace(ctx, h.path, folder, header)
		if err == nil && trace {
			err = d.removeWhole(ctx, h.path, folder, header.OperationID)
		}
		if err != nil {
			return nil, err
		}
		if !trace {
			awaited = append(awaited, named...)
		}
	}
	return awaited, nil
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

// removeLeft removes an entry that stands for nothing any more. Where it stays, the next use of the home takes it away.
func (d *Deleter) removeLeft(h lockedHome, folder *trash.Folder, operation string) (gone bool) {
	err := folder.Remove(operation)
	if err != nil {
		d.tidyAt.Delete(h.path)
		d.log.Warn("an entry that stands for nothing stays in the trash", "home", h.path, "operation", operation, "error", err)
	}
	return err == nil
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

// Trash lists what can be restored in a home, the newest first. Entries of deletes that are under way, or never happened, are not in
// it, nor those whose time is over: a restore would not find them. It is a use of the home: what is due goes, unless somebody is at work
// there.
func (d *Deleter) Trash(ctx context.Context, profileHome string) (listing trash.Listing, err error) {
	homePath, err := home.Resolve(profileHome)
	if err != nil {
		return trash.Listing{}, err
	}
	if _, err := statedb.Locate(homePath); err != nil {
		return trash.Listing{}, err
	}
	d.tidyIfFree(ctx, homePath)
	folder, err := trash.Open(homePath)
	if err != nil {
		return trash.Listing{}, err
	}
	defer folder.Close()
	listing, err = d.entries.List(ctx, folder, homePath)
	if err != nil {
		return trash.Listing{}, err
	}
	var kept []trash.Entry
	for _, e := range listing.Entries {
		trace, err := d.isTrace(ctx, homePath, folder, e.Header)
		if err != nil {
			return trash.Listing{}, err
		}
		if !trace && !e.Expired(time.Now()) {
			kept = append(kept, e)
		}
	}
	listing.Entries = kept
	return listing, nil
}

// isTrace tells whether an entry stands for nothing: all of its ids that had a row are live, so that the delete never happened, or was
// never committed, unless a receipt says that it was, or may have said so before it was forgotten; or all of it is back, or was until
// somebody deleted it again, which only a fence can tell: nobody else is given such an id.
func (d *Deleter) isTrace(ctx context.Context, homePath string, folder *trash.Folder, e trash.Header) (bool, error) {
	live, back, err := statedb.LiveOrRestored(ctx, homePath, e.DeletedIDs, slices.Collect(maps.Values(restoredIDs(e.OperationID, e.DeletedIDs))))
	if err != nil {
		return false, err
	}
	if len(back) > 0 {
		return true, nil // a restore is all or nothing
	}
	anyLive, allLive := false, true
	for _, id := range e.DeletedIDs {
		anyLive, allLive = anyLive || live[id], allLive && live[id]
	}
	if anyLive && !allLive { // of what was deleted, some may never have been there
		entry, err := folder.Check(ctx, e.OperationID)
		if errors.Is(err, trash.ErrDamaged) || errors.Is(err, trash.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		allLive = !slices.ContainsFunc(entry.Sessions, func(id string) bool { return !live[id] })
	}
	if !allLive {
		return false, nil
	}
	store, err := statedb.Locate(homePath)
	if err != nil {
		return false, err
	}
	made, err := statedb.MayHaveHadReceipt(ctx, store, e.OperationID)
	return err == nil && !made, err
}

// PurgeTrash removes one entry for good, or all that could be restored where none is named. One that cannot be read goes only where it
// is named.
func (d *Deleter) PurgeTrash(ctx context.Context, request Request, operation string) (purged Purged, err error) {
	err = d.inHome(ctx, request, func(h lockedHome) error {
		folder, err := trash.Open(h.path)
		if err != nil {
			return err
		}
		defer folder.Close()
		if operation != "" {
			err := folder.Remove(operation)
			if err == nil {
				purged.Entries = 1
			}
			return err
		}
		d.tidyTrash(ctx, h) // what stands for nothing is not counted
		listing, err := d.entries.List(ctx, folder, h.path)
		if err != nil {
			return err
		}
		purged.Unreadable = listing.Unreadable
		for _, e := range listing.Entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := folder.Remove(e.OperationID); err != nil {
				if purged.Entries > 0 {
					err = fmt.Errorf("after %d entries: %w", purged.Entries, err)
				}
				return err
			}
			purged.Entries++
		}
		return nil
	})
	return purged, err
}

package deletion

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// This file finds and takes away the entries of the trash that stand for nothing: those of deletes that never happened, and those of what
// is back (contract 10.2, 10.5).

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

// removeLeft removes an entry that stands for nothing any more. Where it stays, the next use of the home takes it away.
func (d *Deleter) removeLeft(h lockedHome, folder *trash.Folder, operation string) (gone bool) {
	err := folder.Remove(operation)
	if err != nil {
		d.tidyAt.Delete(h.path)
		d.log.Warn("an entry that stands for nothing stays in the trash", "home", h.path, "operation", operation, "error", err)
	}
	return err == nil
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

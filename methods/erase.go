package methods

import (
	"context"

	"session-sidecar/internal/deletion"
	"session-sidecar/rpc"
	"session-sidecar/statedb"
)

// erasePages is what is true of every delete of this build: the pages that it freed are overwritten. Pages that others freed are
// not its affair.
const erasePages = "this_delete"

// eraseInfo tells how much of what was deleted can still be read in the store's files (contract 6b).
type eraseInfo struct {
	Pages   string               `json:"pages" jsonschema:"this_delete: the pages that this delete freed are overwritten"`
	Indexes statedb.IndexErasure `json:"indexes" jsonschema:"whether the full-text indexes are rid of deleted words: purged, pending (a later purge can do it), or not_asked"`
	WAL     statedb.LogErasure   `json:"wal" jsonschema:"the store's log: truncated (it is empty, or there is none), busy (it may not be), or not_asked"`
}

// purgeEvent is the data of a stream frame "purge".
type purgeEvent struct {
	Index string `json:"index"`
	Steps int    `json:"steps"`
}

func eraseInfoOf(e statedb.Erasure) *eraseInfo { return &eraseInfo{erasePages, e.Indexes, e.WAL} }

// purgeAfter does what purge_index asks for when rows are gone. It changes nothing about the delete's own answer: that much is done, and
// no cancel or failure takes it back.
func (db *stateDB) purgeAfter(ctx context.Context, home ProfileHome) *eraseInfo {
	control := rpc.FromContext(ctx)
	erasure := db.deleter.Purge(ctx, string(home), func(p statedb.PurgeProgress) {
		if err := control.Stream("purge", purgeEvent{p.Index, p.Steps}); err != nil {
			db.log.Error("a progress frame could not be sent", "error", err)
		}
	})
	db.log.Info("purge", "home", string(home), "indexes", string(erasure.Indexes), "wal", string(erasure.WAL))
	return eraseInfoOf(erasure)
}

// purgeAfterAll is that for many deletes at once: one purge does for all whose rows are gone, and each of them tells of it.
func (db *stateDB) purgeAfterAll(ctx context.Context, home ProfileHome, items []deletion.BulkItem, results []bulkItem) {
	var erase *eraseInfo
	for i, item := range items {
		if item.Outcome == nil {
			continue
		}
		if erase == nil {
			erase = db.purgeAfter(ctx, home)
		}
		results[i].Erase = erase
	}
}

package methods

import (
	"context"

	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

// What is true of the pages that a delete freed: they are overwritten, or their rows lie in the trash for a while. Pages that others
// freed are not its affair.
const (
	pagesOfThisDelete = "this_delete"
	pagesKept         = "kept_until"
)

// eraseInfo tells how much of what was deleted can still be read in the store's files (contract 6b).
type eraseInfo struct {
	Pages   string               `json:"pages" jsonschema:"this_delete: the pages that this delete freed are overwritten; kept_until: its rows are in the trash for a while"`
	Kept    *float64             `json:"kept_until,omitempty" jsonschema:"for kept_until: when they go, in seconds since 1970"`
	Indexes statedb.IndexErasure `json:"indexes" jsonschema:"purged: nothing of a deleted message is left in a full-text index; pending: something may be, since the purge was stopped, the store was busy, an index is damaged or has entries of messages that another program removed, or this build cannot merge it; not_asked"`
	WAL     statedb.LogErasure   `json:"wal" jsonschema:"the store's log. truncated: it is empty, or there is none; busy: it may not be, since somebody reads an older state or writes all the time, or the purge was stopped before; not_asked"`
}

// purgeEvent is the data of a stream frame "purge".
type purgeEvent struct {
	Index string `json:"index" jsonschema:"the full-text index that is being purged"`
	Steps int    `json:"steps" jsonschema:"how many steps were taken at it"`
}

var purgeStep = event[purgeEvent]{"purge", "The purge of an index has taken another step."}

func eraseInfoOf(e statedb.Erasure, o *deletion.Outcome) *eraseInfo {
	info := &eraseInfo{Pages: pagesOfThisDelete, Indexes: e.Indexes, WAL: e.WAL}
	if o.Entry != nil {
		info.Pages, info.Kept = pagesKept, &o.Entry.KeepUntil
	}
	return info
}

// purgeAfter does what purge_index asks for when rows are gone. It changes nothing about the delete's own answer: that much is done, and
// no cancel or failure takes it back.
func (s *service) purgeAfter(ctx context.Context, home ProfileHome) statedb.Erasure {
	erasure := s.deleter.Purge(ctx, string(home), func(p statedb.PurgeProgress) {
		purgeStep.send(ctx, s, purgeEvent{p.Index, p.Steps})
	})
	s.log.Info("purge", "home", string(home), "indexes", string(erasure.Indexes), "wal", string(erasure.WAL))
	return erasure
}

// purgeAfterAll is that for many deletes at once: one purge does for all whose rows are gone, and each of them tells of it.
func (s *service) purgeAfterAll(ctx context.Context, home ProfileHome, items []deletion.BulkItem, results []bulkItem) {
	var erasure *statedb.Erasure
	for i, item := range items {
		if item.Outcome == nil {
			continue
		}
		if erasure == nil {
			erasure = new(s.purgeAfter(ctx, home))
		}
		results[i].Erase = eraseInfoOf(*erasure, item.Outcome)
	}
}

package methods

import (
	"context"
	"maps"
	"slices"
)

// KeepDays is for how many days a deleted conversation can be taken back: 1 to MaxKeepDays (contract 10).
type KeepDays int

// MaxKeepDays is the most that a delete may ask for.
const MaxKeepDays = 90

// trashInfo is what a kept delete has left in the trash.
type trashInfo struct {
	OperationID OperationID `json:"operation_id" jsonschema:"what trash.restore takes"`
	KeepUntil   float64     `json:"keep_until" jsonschema:"when it goes for good, in seconds since 1970"`
}

type trashResult struct {
	Entries    []trashEntry `json:"entries" jsonschema:"what can be restored, the newest delete first, those of one instant by operation_id"`
	Unreadable []string     `json:"unreadable" jsonschema:"names of files that are named as entries are and cannot be restored; trash.purge removes one by its operation_id, which is the name up to the first dot"`
}

type trashEntry struct {
	OperationID  OperationID `json:"operation_id" jsonschema:"of the delete: what trash.restore takes"`
	DeletedAt    float64     `json:"deleted_at" jsonschema:"when it was deleted, in seconds since 1970"`
	KeepUntil    float64     `json:"keep_until" jsonschema:"when it goes for good, in seconds since 1970"`
	Title        string      `json:"title" jsonschema:"its first 1,000 characters at most; empty where there is none"`
	MessageCount int         `json:"message_count" jsonschema:"how many messages are in it"`
	Bytes        int64       `json:"bytes" jsonschema:"the size of the file"`
	IDs          []string    `json:"ids" jsonschema:"the sessions that were deleted, in the order of deleted_ids"`
}

type restoreParams struct {
	homeParams
	OperationID OperationID `json:"operation_id" jsonschema:"of the delete, from its result or from trash.list"`
}

type restoreResult struct {
	Restored  map[string]string `json:"restored" jsonschema:"the new id of each session, by its old one: restored- and 16 hex digits"`
	Dropped   []string          `json:"dropped,omitempty" jsonschema:"what was left out: columns and tables that the store has no more, as table.column"`
	Changed   []string          `json:"changed,omitempty" jsonschema:"columns of which a value could not come back as it was: what it named is gone, or the title is taken and has a number now"`
	FTSStale  []string          `json:"fts_stale,omitempty" jsonschema:"full-text indexes that the Agent has to rebuild before they find it"`
	EntryLeft bool              `json:"entry_left,omitempty" jsonschema:"the conversation is back, but its file could not be removed from the trash: its text stays there until the next use of the home can remove it, or it is purged"`
}

type purgeParams struct {
	homeParams
	OperationID *OperationID `json:"operation_id,omitempty" jsonschema:"the one entry to remove; where absent, all that could be restored"`
}

type purgeResult struct {
	Purged     int      `json:"purged" jsonschema:"how many entries are gone"`
	Unreadable []string `json:"unreadable,omitempty" jsonschema:"where no operation id was given: names of entries that cannot be read, which stay"`
}

var (
	trashReasons   = storeReasons
	restoreReasons = storeReasonsAnd(
		ReasonLockTimeout, ReasonNotFound, ReasonTrashDamaged, ReasonWriteGuardUnavailable, ReasonFTSUnavailable,
	)
	purgeReasons = storeReasonsAnd(ReasonLockTimeout, ReasonNotFound)
)

func registerTrash(r *Registry, s *service) {
	register(r, spec[homeParams, trashResult]{
		name: "trash.list", summary: "Lists the deleted conversations that can be taken back.", reasons: trashReasons, call: s.listTrash,
	})
	register(r, spec[restoreParams, restoreResult]{
		name: "trash.restore", summary: "Brings a deleted conversation back, under new ids.", reasons: restoreReasons, call: s.restoreTrash,
	})
	register(r, spec[purgeParams, purgeResult]{
		name: "trash.purge", summary: "Removes one deleted conversation, or all, from the trash for good.", reasons: purgeReasons,
		call: s.purgeTrash,
	})
}

// listTrash is contract 10.4.
func (s *service) listTrash(ctx context.Context, p homeParams) (trashResult, error) {
	listing, err := s.deleter.Trash(ctx, string(p.ProfileHome))
	if err != nil {
		return trashResult{}, err
	}
	result := trashResult{Entries: []trashEntry{}, Unreadable: nonNil(listing.Unreadable)}
	for _, e := range listing.Entries {
		result.Entries = append(result.Entries, trashEntry{
			OperationID: OperationID(e.OperationID), DeletedAt: e.DeletedAt, KeepUntil: e.KeepUntil, Title: e.Title,
			MessageCount: e.MessageCount, Bytes: e.Bytes, IDs: e.DeletedIDs,
		})
	}
	return result, nil
}

// restoreTrash is contract 10.5. A log line never holds a title or a message.
func (s *service) restoreTrash(ctx context.Context, p restoreParams) (restoreResult, error) {
	restored, err := s.deleter.Restore(ctx, s.inHome(p.ProfileHome), string(p.OperationID))
	if err != nil {
		return restoreResult{}, err
	}
	s.log.Info("restore", "home", string(p.ProfileHome), "operation", string(p.OperationID),
		"ids", firstOf(slices.Sorted(maps.Keys(restored.IDs))), "id_count", len(restored.IDs))
	return restoreResult{restored.IDs, restored.Dropped, restored.Changed, restored.StaleIndexes, restored.EntryLeft}, nil
}

// purgeTrash is contract 10.4.
func (s *service) purgeTrash(ctx context.Context, p purgeParams) (purgeResult, error) {
	operation := ""
	if p.OperationID != nil {
		operation = string(*p.OperationID)
	}
	purged, err := s.deleter.PurgeTrash(ctx, s.inHome(p.ProfileHome), operation)
	if purged.Entries > 0 {
		s.log.Info("purge the trash", "home", string(p.ProfileHome), "entry_count", purged.Entries)
	}
	return purgeResult{purged.Entries, purged.Unreadable}, err
}

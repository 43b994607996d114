package methods

import (
	"context"

	"session-sidecar/rpc"
	"session-sidecar/statedb"
)

type compactParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
}

type compactResult struct {
	BytesBefore int64  `json:"bytes_before" jsonschema:"what state.db and its log took on the disk before"`
	BytesAfter  int64  `json:"bytes_after" jsonschema:"what they take now"`
	WAL         string `json:"wal" jsonschema:"truncated; or busy: somebody still reads the older state, and the space comes back later"`
}

// compactEvent is the data of a stream frame "progress" of a compact.
type compactEvent struct {
	Phase statedb.CompactPhase `json:"phase" jsonschema:"vacuum: the store is rewritten into its log; then checkpoint: the log is moved into its file"`
	Bytes int64                `json:"bytes" jsonschema:"how far the phase is, as far as the size of the log shows it"`
	Of    int64                `json:"of" jsonschema:"how far it goes"`
}

var compactProgress = event[compactEvent]{"progress", "The compact is further, or in its next phase."}

func registerCompact(r *Registry, db *stateDB) {
	register(r, spec[compactParams, compactResult]{
		name:    "state_db.compact",
		summary: "Gives the store's free pages back to the disk, if nobody is in the way.",
		reasons: []Reason{ReasonStoreMissing, ReasonStoreUnsupported, ReasonStoreBusy, ReasonStoreCorrupt, ReasonIOError},
		streams: []streamed{compactProgress}, call: db.compact,
	})
}

// compact is contract 5d.
func (db *stateDB) compact(ctx context.Context, p compactParams) (compactResult, error) {
	control := rpc.FromContext(ctx)
	compacted, err := db.deleter.Compact(ctx, string(p.ProfileHome), func(c statedb.CompactProgress) {
		if err := compactProgress.send(control, compactEvent{c.Phase, c.Bytes, c.Of}); err != nil {
			db.log.Error("a progress frame could not be sent", "error", err)
		}
	})
	if err != nil {
		return compactResult{}, conditionOf(err)
	}
	result := compactResult{BytesBefore: compacted.BytesBefore, BytesAfter: compacted.BytesAfter, WAL: "busy"}
	if compacted.WALTruncated {
		result.WAL = "truncated"
	}
	db.log.Info("compact", "home", string(p.ProfileHome), "bytes_before", result.BytesBefore, "bytes_after", result.BytesAfter, "wal", result.WAL)
	return result, nil
}

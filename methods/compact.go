package methods

import (
	"context"

	"session-sidecar/statedb"
)

type compactResult struct {
	BytesBefore int64              `json:"bytes_before" jsonschema:"what state.db and its log took on the disk before"`
	BytesAfter  int64              `json:"bytes_after" jsonschema:"what they take now"`
	WAL         statedb.LogErasure `json:"wal" jsonschema:"truncated; or busy: somebody still reads the older state, and the space comes back later"`
}

// compactEvent is the data of a stream frame "progress" of a compact.
type compactEvent struct {
	Phase statedb.CompactPhase `json:"phase" jsonschema:"vacuum: the store is rewritten into its log; then checkpoint: the log is moved into its file"`
	Bytes int64                `json:"bytes" jsonschema:"how far the phase is, as far as the size of the log shows it"`
	Of    int64                `json:"of" jsonschema:"how far it goes"`
}

var compactProgress = event[compactEvent]{"progress", "The compact is further, or in its next phase."}

func registerCompact(r *Registry, s *service) {
	register(r, spec[homeParams, compactResult]{
		name:    "state_db.compact",
		summary: "Gives the store's free pages back to the disk, if nobody is in the way.",
		reasons: storeReasons,
		streams: []streamed{compactProgress}, call: s.compact,
	})
}

// compact is contract 5d.
func (s *service) compact(ctx context.Context, p homeParams) (compactResult, error) {
	compacted, err := s.deleter.Compact(ctx, string(p.ProfileHome), func(c statedb.CompactProgress) {
		compactProgress.send(ctx, s, compactEvent{c.Phase, c.Bytes, c.Of})
	})
	if err != nil {
		return compactResult{}, err
	}
	result := compactResult{BytesBefore: compacted.BytesBefore, BytesAfter: compacted.BytesAfter, WAL: statedb.LogBusy}
	if compacted.WALTruncated {
		result.WAL = statedb.LogTruncated
	}
	s.log.Info("compact", "home", string(p.ProfileHome), "bytes_before", result.BytesBefore, "bytes_after", result.BytesAfter, "wal", string(result.WAL))
	return result, nil
}

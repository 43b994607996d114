package methods

import (
	"context"

	"session-sidecar/statedb"
)

type fenceParams struct {
	homeParams
	SessionID SessionID `json:"session_id" jsonschema:"the id that a new session is to have"`
}

type fenceResult struct {
	Live      bool          `json:"live" jsonschema:"whether a session of this id is there; it wins over a tombstone"`
	Retired   bool          `json:"retired" jsonschema:"whether the id has a tombstone; any record under its key counts"`
	Expires   bool          `json:"expires" jsonschema:"whether that tombstone expires: it holds until state_db.reclaim_fences removes it; one that is malformed is permanent"`
	RetiredAt *float64      `json:"retired_at,omitempty" jsonschema:"when the id was retired, in seconds since 1970; absent where the tombstone does not tell"`
	Conflict  *conflictInfo `json:"conflict" jsonschema:"why no session may be created under this id; null where one may be"`
}

type conflictInfo struct {
	Code    Reason `json:"code" jsonschema:"session_exists, or session_deleted"`
	Message string `json:"message" jsonschema:"in the words that the Agent uses"`
}

// The two conflicts, in the words that an Agent's own fence uses.
var (
	conflictLive    = conflictInfo{ReasonSessionExists, "Session already exists"}
	conflictRetired = conflictInfo{ReasonSessionDeleted, "Session was deleted; its id cannot be reused"}
)

type reclaimResult struct {
	Reclaimed int `json:"reclaimed" jsonschema:"how many fences, of sessions and of routes, are gone; one whose age cannot be told stays, and a cancel or a failure leaves the rest"`
}

type expiringParams struct {
	homeParams
	SessionIDs []SessionID `json:"session_ids" jsonschema:"the ids to ask about"`
}

type expiringResult struct {
	SessionIDs []string `json:"session_ids" jsonschema:"those whose own tombstone expires, each once, in the order asked"`
}

func registerFence(r *Registry, s *service) {
	register(r, spec[fenceParams, fenceResult]{
		name: "state_db.session_fence", summary: "Tells whether a new session may be created under an id.",
		reasons: storeReasons, call: overStore(s.sessionFence),
	})
	register(r, spec[homeParams, reclaimResult]{
		name: "state_db.reclaim_fences", summary: "Removes expiring fences, of sessions and of routes, that are older than 7 days.",
		reasons: storeReasons, call: overStore(s.reclaimFences),
	})
	register(r, spec[expiringParams, expiringResult]{
		name: "state_db.expiring_fences", summary: "Tells which ids have a tombstone that expires.",
		reasons: storeReasons, call: overStore(s.expiringFences),
	})
}

// sessionFence is contract 5d. A live session wins over a tombstone of its id.
func (s *service) sessionFence(ctx context.Context, store string, p fenceParams) (fenceResult, error) {
	state, err := statedb.SessionFence(ctx, store, string(p.SessionID))
	if err != nil {
		return fenceResult{}, err
	}
	result := fenceResult{Live: state.Live, Retired: state.Retired, Expires: state.Expires, RetiredAt: state.RetiredAt}
	switch {
	case state.Live:
		result.Conflict = &conflictLive
	case state.Retired:
		result.Conflict = &conflictRetired
	}
	return result, nil
}

// reclaimFences is contract 5d.
func (s *service) reclaimFences(ctx context.Context, store string, p homeParams) (reclaimResult, error) {
	reclaimed, err := statedb.ReclaimFences(ctx, store)
	if reclaimed > 0 {
		s.log.Info("reclaim fences", "home", string(p.ProfileHome), "reclaimed_count", reclaimed)
	}
	return reclaimResult{reclaimed}, err
}

// expiringFences is contract 5d.
func (s *service) expiringFences(ctx context.Context, store string, p expiringParams) (expiringResult, error) {
	ids, err := statedb.ExpiringFences(ctx, store, texts(p.SessionIDs))
	return expiringResult{nonNil(ids)}, err
}

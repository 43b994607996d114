package methods

import (
	"context"
	"slices"

	"session-sidecar/internal/home"
	"session-sidecar/statedb"
)

// ReceiptText is one of the three texts that a mutation receipt is kept under. It is hashed and never an id that is looked up,
// so any text of 1 to 1024 characters will do (contract 5d).
type ReceiptText string

type fenceParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	SessionID   SessionID   `json:"session_id" jsonschema:"the id that a new session is to have"`
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

type generationParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	Candidates  []SessionID `json:"candidates" jsonschema:"the ids that the conversation may have, in the order of their generations"`
	Pinned      []SessionID `json:"pinned,omitempty" jsonschema:"ids that may be taken although they are retired, for an exact retry; says nothing of one that is not retired"`
	Spent       []SessionID `json:"spent,omitempty" jsonschema:"ids that may not be taken although they are not retired; says nothing of one that is"`
}

type generationResult struct {
	Generation int    `json:"generation" jsonschema:"the place of the first candidate that may be taken, from 0"`
	SessionID  string `json:"session_id" jsonschema:"that candidate"`
}

type keepParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	Candidates  []SessionID `json:"candidates" jsonschema:"as for state_db.first_generation"`
	SessionID   SessionID   `json:"session_id" jsonschema:"the one of them that is bound now; the fences of those before it are kept for good"`
}

type keepResult struct {
	Kept bool `json:"kept" jsonschema:"false: one of those before it has no fence any more, and nothing was changed"`
}

type receiptParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	PrincipalID ReceiptText `json:"principal_id" jsonschema:"who asked for the change; any text, hashed as it is"`
	SessionID   ReceiptText `json:"session_id" jsonschema:"the session that was to be changed; any text"`
	RequestID   ReceiptText `json:"request_id" jsonschema:"the request's id, as the principal gave it"`
}

type receiptResult struct {
	Found bool `json:"found" jsonschema:"whether the receipt of that very request is there"`
}

type reclaimParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
}

type reclaimResult struct {
	Reclaimed int `json:"reclaimed" jsonschema:"how many fences, of sessions and of routes, are gone; one whose age cannot be told stays, and a cancel or a failure leaves the rest"`
}

type expiringParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
	SessionIDs  []SessionID `json:"session_ids" jsonschema:"the ids to ask about"`
}

type expiringResult struct {
	SessionIDs []string `json:"session_ids" jsonschema:"those whose own tombstone expires, each once, in the order asked"`
}

// fenceReasons are all that a question about fences may answer; a change may also find the disk full.
var fenceReasons = []Reason{
	ReasonStoreMissing, ReasonStoreUnsupported, ReasonStoreBusy, ReasonStoreCorrupt, ReasonIOError,
}

func registerFence(r *Registry, db *stateDB) {
	register(r, spec[fenceParams, fenceResult]{
		name: "state_db.session_fence", summary: "Tells whether a new session may be created under an id.",
		reasons: fenceReasons, call: db.sessionFence,
	})
	register(r, spec[generationParams, generationResult]{
		name: "state_db.first_generation", summary: "Tells which of the ids that a conversation may have is the first that may be taken.",
		reasons: append(slices.Clone(fenceReasons), ReasonGenerationsExhausted), call: db.firstGeneration,
	})
	register(r, spec[keepParams, keepResult]{
		name: "state_db.keep_passed_fences", summary: "Keeps the fences of the ids before the one that is bound now for good.",
		reasons: fenceReasons, call: db.keepPassedFences,
	})
	register(r, spec[receiptParams, receiptResult]{
		name: "state_db.has_mutation_receipt", summary: "Tells whether a principal's request to change a session has been done.",
		reasons: fenceReasons, call: db.hasMutationReceipt,
	})
	register(r, spec[reclaimParams, reclaimResult]{
		name: "state_db.reclaim_fences", summary: "Removes expiring fences, of sessions and of routes, that are older than 7 days.",
		reasons: fenceReasons, call: db.reclaimFences,
	})
	register(r, spec[expiringParams, expiringResult]{
		name: "state_db.expiring_fences", summary: "Tells which ids have a tombstone that expires.",
		reasons: fenceReasons, call: db.expiringFences,
	})
}

// sessionFence is contract 5d. A live session wins over a tombstone of its id.
func (db *stateDB) sessionFence(ctx context.Context, p fenceParams) (fenceResult, error) {
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return fenceResult{}, conditionOf(err)
	}
	state, err := statedb.Fence(ctx, store, string(p.SessionID))
	if err != nil {
		return fenceResult{}, conditionOf(err)
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

// firstGeneration is contract 5d.
func (db *stateDB) firstGeneration(ctx context.Context, p generationParams) (generationResult, error) {
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return generationResult{}, conditionOf(err)
	}
	n, found, err := statedb.FirstGeneration(ctx, store, statedb.Generations{
		Candidates: texts(p.Candidates), Pinned: texts(p.Pinned), Spent: texts(p.Spent),
	})
	if err != nil {
		return generationResult{}, conditionOf(err)
	}
	if !found {
		return generationResult{}, application(ReasonGenerationsExhausted, "every candidate is retired or spent")
	}
	return generationResult{Generation: n, SessionID: string(p.Candidates[n])}, nil
}

// keepPassedFences is contract 5d.
func (db *stateDB) keepPassedFences(ctx context.Context, p keepParams) (keepResult, error) {
	bound := slices.Index(p.Candidates, p.SessionID)
	if bound < 0 {
		return keepResult{}, invalidParams("session_id is none of candidates")
	}
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return keepResult{}, conditionOf(err)
	}
	kept, err := statedb.KeepPassedFences(ctx, store, texts(p.Candidates[:bound]))
	if err != nil {
		return keepResult{}, conditionOf(err)
	}
	db.log.Info("keep passed fences", "home", string(p.ProfileHome), "session", string(p.SessionID), "passed_count", bound, "kept", kept)
	return keepResult{kept}, nil
}

// hasMutationReceipt is contract 5d.
func (db *stateDB) hasMutationReceipt(ctx context.Context, p receiptParams) (receiptResult, error) {
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return receiptResult{}, conditionOf(err)
	}
	found, err := statedb.HasMutationReceipt(ctx, store, string(p.PrincipalID), string(p.SessionID), string(p.RequestID))
	if err != nil {
		return receiptResult{}, conditionOf(err)
	}
	return receiptResult{found}, nil
}

// reclaimFences is contract 5d.
func (db *stateDB) reclaimFences(ctx context.Context, p reclaimParams) (reclaimResult, error) {
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return reclaimResult{}, conditionOf(err)
	}
	reclaimed, err := statedb.ReclaimFences(ctx, store)
	if reclaimed > 0 {
		db.log.Info("reclaim fences", "home", string(p.ProfileHome), "reclaimed_count", reclaimed)
	}
	if err != nil {
		return reclaimResult{}, conditionOf(err)
	}
	return reclaimResult{reclaimed}, nil
}

// expiringFences is contract 5d.
func (db *stateDB) expiringFences(ctx context.Context, p expiringParams) (expiringResult, error) {
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return expiringResult{}, conditionOf(err)
	}
	ids, err := statedb.ExpiringFences(ctx, store, texts(p.SessionIDs))
	if err != nil {
		return expiringResult{}, conditionOf(err)
	}
	return expiringResult{nonNil(ids)}, nil
}

// storeOf finds the store of a home.
func storeOf(profileHome ProfileHome) (string, error) {
	homePath, err := home.Resolve(string(profileHome))
	if err != nil {
		return "", err
	}
	return statedb.Locate(homePath)
}

func texts(ids []SessionID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return texts
}

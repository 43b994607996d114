package methods

import (
	"context"
	"slices"

	"session-sidecar/statedb"
)

type generationParams struct {
	homeParams
	Candidates []SessionID `json:"candidates" jsonschema:"the ids that the conversation may have, in the order of their generations"`
	Pinned     []SessionID `json:"pinned,omitempty" jsonschema:"ids that may be taken although they are retired, for an exact retry; says nothing of one that is not retired"`
	Spent      []SessionID `json:"spent,omitempty" jsonschema:"ids that may not be taken although they are not retired; says nothing of one that is"`
}

type generationResult struct {
	Generation int    `json:"generation" jsonschema:"the place of the first candidate that may be taken, from 0"`
	SessionID  string `json:"session_id" jsonschema:"that candidate"`
}

type keepParams struct {
	homeParams
	Candidates []SessionID `json:"candidates" jsonschema:"as for state_db.first_generation"`
	SessionID  SessionID   `json:"session_id" jsonschema:"the one of them that is bound now; the fences of those before it are kept for good"`
}

type keepResult struct {
	Kept bool `json:"kept" jsonschema:"false: one of those before it has no fence any more, and nothing was changed"`
}

func registerGenerations(r *Registry, s *service) {
	register(r, spec[generationParams, generationResult]{
		name: "state_db.first_generation", summary: "Tells which of the ids that a conversation may have is the first that may be taken.",
		reasons: storeReasonsAnd(ReasonGenerationsExhausted), call: overStore(s.firstGeneration),
	})
	register(r, spec[keepParams, keepResult]{
		name: "state_db.keep_passed_fences", summary: "Keeps the fences of the ids before the one that is bound now for good.",
		reasons: storeReasons, call: s.keepPassedFences,
	})
}

// firstGeneration is contract 5d.
func (s *service) firstGeneration(ctx context.Context, store string, p generationParams) (generationResult, error) {
	n, found, err := statedb.FirstGeneration(ctx, store, statedb.Generations{
		Candidates: texts(p.Candidates), Pinned: texts(p.Pinned), Spent: texts(p.Spent),
	})
	if err != nil {
		return generationResult{}, err
	}
	if !found {
		return generationResult{}, application(ReasonGenerationsExhausted, "every candidate is retired or spent")
	}
	return generationResult{Generation: n, SessionID: string(p.Candidates[n])}, nil
}

// keepPassedFences is contract 5d.
func (s *service) keepPassedFences(ctx context.Context, p keepParams) (keepResult, error) {
	bound := slices.Index(p.Candidates, p.SessionID)
	if bound < 0 {
		return keepResult{}, invalidParams("session_id is none of candidates")
	}
	store, err := storeOf(p.ProfileHome)
	if err != nil {
		return keepResult{}, err
	}
	kept, err := statedb.KeepPassedFences(ctx, store, texts(p.Candidates[:bound]))
	if err != nil {
		return keepResult{}, err
	}
	s.log.Info("keep passed fences", "home", string(p.ProfileHome), "session", string(p.SessionID), "passed_count", bound, "kept", kept)
	return keepResult{kept}, nil
}

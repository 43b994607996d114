package methods

import (
	"context"

	"session-sidecar/statedb"
)

type mutationParams struct {
	homeParams
	PrincipalID AnyText `json:"principal_id" jsonschema:"who asked for the change; any text, hashed as it is"`
	SessionID   AnyText `json:"session_id" jsonschema:"the session that was to be changed; any text"`
	RequestID   AnyText `json:"request_id" jsonschema:"the request's id, as the principal gave it"`
}

type mutationResult struct {
	Found bool `json:"found" jsonschema:"whether the receipt of that very request is there"`
}

func registerMutations(r *Registry, s *service) {
	register(r, spec[mutationParams, mutationResult]{
		name: "state_db.has_mutation_receipt", summary: "Tells whether a principal's request to change a session has been done.",
		reasons: storeReasons, call: overStore(s.hasMutationReceipt),
	})
}

// hasMutationReceipt is contract 5d.
func (s *service) hasMutationReceipt(ctx context.Context, store string, p mutationParams) (mutationResult, error) {
	found, err := statedb.HasMutationReceipt(ctx, store, string(p.PrincipalID), string(p.SessionID), string(p.RequestID))
	return mutationResult{found}, err
}

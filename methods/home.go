package methods

import (
	"context"

	"session-sidecar/internal/deletion"
	"session-sidecar/internal/home"
	"session-sidecar/statedb"
)

// homeParams name the home that a call is about. It is always named: none is ever taken from the environment (contract 2).
type homeParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
}

func (p homeParams) home() ProfileHome { return p.ProfileHome }

// overStore makes the call of a method that needs nothing of a home but the path of its store.
func overStore[P interface{ home() ProfileHome }, R any](
	call func(ctx context.Context, store string, params P) (R, error),
) func(context.Context, P) (R, error) {
	return func(ctx context.Context, params P) (result R, err error) {
		store, err := storeOf(params.home())
		if err != nil {
			return result, err
		}
		return call(ctx, store, params)
	}
}

// storeOf finds the store of a home.
func storeOf(profileHome ProfileHome) (store string, err error) {
	homePath, err := home.Resolve(string(profileHome))
	if err != nil {
		return "", err
	}
	return statedb.Locate(homePath)
}

// storeAndAgent is storeOf for what also depends on the Agent that the host named. Its folder is looked at anew: it may have changed.
func (s *service) storeAndAgent(profileHome ProfileHome) (store string, agent statedb.Agent, err error) {
	homePath, err := home.Resolve(string(profileHome))
	if err != nil {
		return "", agent, err
	}
	if agent, err = statedb.LookAtAgent(s.host.agentDir()); err != nil {
		return "", agent, err
	}
	store, err = statedb.Locate(homePath)
	return store, agent, err
}

// inHome is a request about a home, beside the Agent and the base home that the host named.
func (s *service) inHome(profileHome ProfileHome) deletion.Request {
	return deletion.Request{ProfileHome: string(profileHome), AgentDir: s.host.agentDir(), BaseHome: s.host.baseHome()}
}

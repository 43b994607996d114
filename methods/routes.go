package methods

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

// AnyValue is any JSON value, as it was spelled.
type AnyValue json.RawMessage

// UnmarshalJSON keeps the bytes.
func (v *AnyValue) UnmarshalJSON(text []byte) error {
	*v = slices.Clone(text)
	return nil
}

// Namespace is one of the base home's namespaces of routes.
type Namespace string

type routeRetiredParams struct {
	homeParams
	SessionKey string   `json:"session_key" jsonschema:"the key under which the route is to be saved"`
	Entry      AnyValue `json:"entry" jsonschema:"what is to be saved: any JSON value; the session that it names is session_id of an object"`
}

type routeRetiredResult struct {
	Retired bool `json:"retired" jsonschema:"whether the save must be skipped"`
}

type fenceRoutesParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the home that the sessions were deleted from"`
	BaseHome    ProfileHome `json:"base_home" jsonschema:"the home of the base profile, whose routes all profiles share"`
	SessionIDs  []SessionID `json:"session_ids" jsonschema:"sessions that have a tombstone in profile_home; one without is -32602, and then none is fenced"`
	Namespace   *Namespace  `json:"namespace,omitempty" jsonschema:"where their routes lie; the profile's own where absent, which a folder whose name no key can carry does not have"`
}

type fenceRoutesResult struct {
	Fenced        int `json:"fenced" jsonschema:"sessions whose routes are fenced now; 0 where the base home needs no fence: it is not there, or keeps no routes"`
	RoutesRemoved int `json:"routes_removed" jsonschema:"routes that named one of them and are gone"`
	Reclaimed     int `json:"reclaimed" jsonschema:"older fences of routes that had lasted their time and are gone"`
}

func registerRoutes(r *Registry, s *service) {
	register(r, spec[routeRetiredParams, routeRetiredResult]{
		name:    "state_db.route_retired",
		summary: "Tells whether a route must not be saved, because the session that it names was deleted.",
		reasons: storeReasons,
		call:    overStore(s.routeRetired),
	})
	register(r, spec[fenceRoutesParams, fenceRoutesResult]{
		name:    "state_db.fence_shared_routes",
		summary: "Keeps the routes to deleted sessions of a profile from coming back in the base home.",
		reasons: storeReasons,
		call:    s.fenceSharedRoutes,
	})
}

// routeRetired is contract 5d.
func (s *service) routeRetired(ctx context.Context, store string, p routeRetiredParams) (routeRetiredResult, error) {
	retired, err := statedb.RouteRetired(ctx, store, p.SessionKey, statedb.RouteSession(string(p.Entry)))
	return routeRetiredResult{retired}, err
}

// fenceSharedRoutes is contract 5d.
func (s *service) fenceSharedRoutes(ctx context.Context, p fenceRoutesParams) (fenceRoutesResult, error) {
	namespace := ""
	if p.Namespace != nil {
		namespace = string(*p.Namespace)
	}
	fenced, err := s.deleter.FenceRoutes(ctx, string(p.ProfileHome), string(p.BaseHome), texts(p.SessionIDs), namespace)
	switch {
	case errors.Is(err, deletion.ErrNoTombstone):
		return fenceRoutesResult{}, invalidParams("session_ids: %v", err)
	case errors.Is(err, deletion.ErrNoNamespace):
		return fenceRoutesResult{}, invalidParams("namespace is missing: %v", err)
	case err != nil:
		return fenceRoutesResult{}, err
	}
	s.log.Info("fence routes", "home", string(p.ProfileHome), "base", string(p.BaseHome),
		"fenced_count", fenced.Fenced, "removed_count", fenced.RoutesRemoved, "reclaimed_count", fenced.Reclaimed)
	return fenceRoutesResult{fenced.Fenced, fenced.RoutesRemoved, fenced.Reclaimed}, nil
}

package statedb

import (
	"context"
	"strings"
	"time"
)

// The fences of routes, asked and set (contract 5d, route_retired and fence_shared_routes). route.go decides.

// RouteRetired tells whether a routing save of this session key, for an entry that names this session, must be skipped
// (contract 5d). It follows this store's fences alone. An empty id is an entry that names no session; a store without
// state_meta has no fences.
func RouteRetired(ctx context.Context, path, sessionKey, sessionID string) (retired bool, err error) {
	if sessionID == "" {
		return false, nil
	}
	err = read(ctx, path, "look for a route's fence", func(c *conn) error {
		s, err := c.readSchema(ctx)
		if err != nil || !s.hasRecords() {
			return err
		}
		facts := routeFacts{namespace: routeNamespace(sessionKey), names: true}
		tombstoneKey, fenceKey := retiredSessionPrefix+sessionID, routeFenceKey(facts.namespace, sessionID)
		fences, err := c.readFences(ctx, s, []string{tombstoneKey, fenceKey})
		if err != nil {
			return err
		}
		facts.tombstone, facts.fence = fences[tombstoneKey], fences[fenceKey]
		if s.has("sessions", "id") {
			live, err := c.liveAmong(ctx, []string{sessionID})
			if err != nil {
				return err
			}
			facts.live = live[sessionID]
		}
		retired = facts.retired(now())
		return nil
	})
	return retired && err == nil, err
}

// RouteFences gives the routes that have to be fenced for these ids: of those that have a tombstone in this store, each once,
// with the permanence of that (contract 5d).
func RouteFences(ctx context.Context, path string, ids []string) (fences []RouteFence, err error) {
	err = read(ctx, path, "read the tombstones", func(c *conn) error {
		fences = nil
		s, err := c.readSchema(ctx)
		if err != nil {
			return err
		}
		found, err := c.readFences(ctx, s, prefixed(retiredSessionPrefix, ids))
		for _, key := range sortedKeys(found) {
			fences = append(fences, RouteFence{strings.TrimPrefix(key, retiredSessionPrefix), found[key].expires})
		}
		return err
	})
	return fences, err
}

// FencedRoutes is what a fence of routes has done to a store.
type FencedRoutes struct {
	// Needed is false for a store that holds no routes that could come back: nothing was done then.
	Needed        bool
	Fenced        int // ids whose routes are fenced now
	RoutesRemoved int
	Reclaimed     int // fences of routes that had lasted their time
}

// FenceRoutes fences the routes to sessions that were retired in another home, in the store of the base home: in one
// transaction it marks the ids, drops the routes that name them and reclaims fences that have lasted their time (contract
// 5d, fence_shared_routes). namespace is the one of the sessions' profile; where it is empty, only main is fenced. A store
// without the tables that this takes needs no fence. To do it again changes nothing but the age of an expiring fence.
func FenceRoutes(
	ctx context.Context, basePath string, patience time.Duration, namespace string, fences []RouteFence,
) (*FencedRoutes, error) {
	tx, err := Begin(ctx, basePath, patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	fenced, err := tx.conn.fenceRoutes(ctx, namespace, fences, now())
	if err != nil {
		return nil, classify("fence the routes", err)
	}
	if !fenced.Needed {
		return fenced, tx.Rollback()
	}
	return fenced, tx.Commit()
}

func (c *conn) fenceRoutes(
	ctx context.Context, namespace string, fences []RouteFence, now float64,
) (*FencedRoutes, error) {
	s, err := c.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	if !s.hasRecords() || !s.has("gateway_routing", "session_key", "entry_json") || !s.has("sessions", "id") {
		return &FencedRoutes{}, nil
	}
	expires := mergeFences(fences)
	ids := sortedKeys(expires)
	live, err := c.liveAmong(ctx, ids)
	if err != nil {
		return nil, err
	}
	fenced := &FencedRoutes{Needed: true, Fenced: len(ids)}
	if err := c.markRoutes(ctx, s, namespace, expires, live, now); err != nil {
		return nil, err
	}
	fenced.RoutesRemoved, err = c.removeRoutes(ctx, func(routeSpace, id string) bool {
		_, retired := expires[id]
		return retired && dropsRoute(routeSpace, namespace, live[id])
	})
	if err != nil {
		return nil, err
	}
	fenced.Reclaimed, err = c.reclaimRouteFences(ctx, s, now)
	return fenced, err
}

// markRoutes writes the fences of these ids over what is there.
func (c *conn) markRoutes(
	ctx context.Context, s *schema, namespace string, expires, live map[string]bool, now float64,
) error {
	wanted := map[string]bool{} // by key, whether it expires
	for id := range expires {
		for _, space := range fencedNamespaces(namespace, live[id]) {
			wanted[routeFenceKey(space, id)] = expires[id]
		}
	}
	older, err := c.readFences(ctx, s, sortedKeys(wanted))
	if err != nil {
		return err
	}
	marks := map[string]string{}
	for key, expiring := range wanted {
		if value, changes := newRouteFence(older[key], expiring, now); changes {
			marks[key] = value
		}
	}
	return c.putRecords(ctx, "write state_meta", marks)
}

// reclaimRouteFences drops the expiring fences of routes that have lasted their time.
func (c *conn) reclaimRouteFences(ctx context.Context, s *schema, now float64) (int, error) {
	aged, err := c.agedOutFences(ctx, s, retiredRoutePrefix, now)
	if err != nil {
		return 0, err
	}
	return len(aged), c.removeRecords(ctx, aged)
}

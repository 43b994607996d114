package deletion

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
	"session-sidecar/statedb"
)

var (
	// ErrNoTombstone says that a session whose routes are to be fenced was not retired in its home.
	ErrNoTombstone = errors.New("the session has no tombstone in its home")
	// ErrNoNamespace says that no session key could carry the name of a profile's folder.
	ErrNoNamespace = errors.New("the folder's name cannot be the namespace of a route")
)

// FenceRoutes fences the routes to sessions that were retired in a home, in the store of the base home (contract 5d,
// fence_shared_routes). An empty namespace is the profile's own. A base home without a store needs no fence. ErrNoTombstone
// and ErrNoNamespace are mistakes of the caller; then nothing was changed.
func (d *Deleter) FenceRoutes(
	ctx context.Context, profileHome, baseHome string, ids []string, namespace string,
) (*statedb.FencedRoutes, error) {
	homePath, store, err := locate(profileHome)
	if err != nil {
		return nil, err
	}
	fences, err := statedb.RouteFences(ctx, store, ids)
	if err != nil {
		return nil, err
	}
	retired := map[string]bool{}
	for _, f := range fences {
		retired[f.SessionID] = true
	}
	for _, id := range ids {
		if !retired[id] {
			return nil, fmt.Errorf("%w: %s", ErrNoTombstone, id)
		}
	}
	if namespace == "" {
		if namespace = namespaceOf(homePath, baseHome); namespace == "" {
			return nil, ErrNoNamespace
		}
	}
	fenced, err := fenceIn(ctx, baseHome, d.patience, namespace, fences)
	if failure, is := errors.AsType[*statedb.Error](err); is { // which of the two homes it is
		in := *failure
		in.Detail = strings.TrimSuffix("in the base home: "+failure.Detail, ": ")
		err = &in
	}
	return fenced, err
}

// fenceIn fences the routes in the store of the base home. Where there is none, no fence is needed.
func fenceIn(
	ctx context.Context, baseHome string, patience time.Duration, namespace string, fences []statedb.RouteFence,
) (*statedb.FencedRoutes, error) {
	basePath, err := home.Resolve(baseHome)
	if errors.Is(err, home.ErrMissing) {
		return &statedb.FencedRoutes{}, nil
	}
	if err != nil {
		return nil, err
	}
	store, err := statedb.Locate(basePath)
	var fenced *statedb.FencedRoutes
	if err == nil {
		fenced, err = statedb.FenceRoutes(ctx, store, patience, namespace, fences)
	}
	if errors.Is(err, statedb.ErrMissing) {
		return &statedb.FencedRoutes{}, nil
	}
	return fenced, err
}

// namespaceOf is the namespace of a home's routes; empty where its folder has no name that could be one.
func namespaceOf(homePath, baseHome string) string {
	return statedb.ProfileNamespace(filepath.Base(homePath), isBase(homePath, baseHome))
}

// isBase tells whether a resolved home is the base home itself, also where a file system that ignores case, or a mount, gives
// it two spellings.
func isBase(homePath, baseHome string) bool {
	basePath, err := home.Resolve(baseHome)
	return err == nil && (basePath == homePath || sameFile(basePath, homePath))
}

// sharesRoutes tells whether a delete in this home has routes to fence in the base home, so that it must leave an intent. A
// base home that is not there has no routes. Of one that cannot be reached nobody knows: its intent waits.
func sharesRoutes(homePath, baseHome string) bool {
	if baseHome == "" {
		return false
	}
	_, err := home.Resolve(baseHome)
	return !errors.Is(err, home.ErrMissing) && !isBase(homePath, baseHome)
}

const (
	// settleWithin is how long one call waits for the base home, in all.
	settleWithin = 100 * time.Millisecond
	// settleBatch is how many ids are fenced in one transaction before the next one begins.
	settleBatch = 2000
)

// routeSettler is what one call does about the routes of its home. It never fails the call, and is used without a lock of the
// home.
type routeSettler struct {
	deleter            *Deleter
	homePath, baseHome string
	left               time.Duration // how long the call still waits
}

// routesOf begins with what earlier deletes left, when a home is first used (contract 6.5).
func (d *Deleter) routesOf(ctx context.Context, homePath, baseHome string) *routeSettler {
	r := &routeSettler{deleter: d, homePath: homePath, baseHome: baseHome, left: settleWithin}
	if baseHome != "" && d.background.firstUse(homePath) {
		r.settle(ctx)
	}
	return r
}

// settle does what the route intents of the home ask for, if the base home lets us right now; else it goes on behind the
// call. A cancel of the call does not stop it: what it follows is committed. Intents in the base home itself were left when
// another one was the base home, and wait for that.
func (r *routeSettler) settle(ctx context.Context) {
	if r.baseHome == "" || isBase(r.homePath, r.baseHome) {
		return
	}
	err := context.DeadlineExceeded
	if r.left > 0 {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.left)
		err = r.deleter.settleIntents(ctx, r.homePath, r.baseHome, r.left/2)
		cancel()
		r.left -= time.Since(begun)
	}
	if err != nil {
		r.left = 0
		r.deleter.pursueRoutes(r.homePath, r.baseHome, err)
	}
}

// settleIntents does what a home's route intents ask for: the base home is fenced for good before an intent goes, so that a
// crash in between does it again. Ids whose tombstones were reclaimed meanwhile need no fence any more.
func (d *Deleter) settleIntents(ctx context.Context, homePath, baseHome string, patience time.Duration) error {
	store, err := statedb.Locate(homePath)
	if errors.Is(err, statedb.ErrMissing) {
		return nil // and its intents with it
	}
	if err != nil {
		return err
	}
	intents, err := statedb.RouteIntents(ctx, store)
	if err != nil {
		return err
	}
	intents = slices.DeleteFunc(intents, func(i statedb.RouteIntent) bool {
		if i.Damaged && d.background.firstUse(homePath+"\x00"+i.OperationID) {
			d.log.Warn("a route intent cannot be read and stays", "home", homePath, "operation", i.OperationID)
		}
		return i.Damaged
	})
	for len(intents) > 0 {
		var operations, ids []string
		for len(intents) > 0 && len(ids) < settleBatch {
			operations, ids = append(operations, intents[0].OperationID), append(ids, intents[0].SessionIDs...)
			intents = intents[1:]
		}
		fences, err := statedb.RouteFences(ctx, store, ids)
		if err != nil {
			return err
		}
		if len(fences) > 0 {
			if _, err := fenceIn(ctx, baseHome, patience, namespaceOf(homePath, baseHome), fences); err != nil {
				return err
			}
			faultpoint.Hit(faultpoint.RoutesFenced)
		}
		if err := statedb.DropRouteIntents(ctx, store, patience, operations); err != nil {
			return err
		}
	}
	return nil
}

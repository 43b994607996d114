package deletion

import (
	"context"
	"errors"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
	"session-sidecar/statedb"
)

// lockedHome is a home whose locks are held, with what a delete needs of it.
type lockedHome struct {
	path    string          // resolved
	store   string          // resolved too
	folder  *cleanup.Folder // sessions/, and what rows name elsewhere in the home
	unasked bool            // by the watcher
	before  cleanup.Report  // what was left to clean up before the work began
}

// inHome runs work under the locks of a request's home, when what earlier deletes left has been worked through (contract 4,
// step 1). A home without a store gets no lock file (contract 3.1).
func (d *Deleter) inHome(ctx context.Context, request Request, work func(lockedHome) error) (err error) {
	h := lockedHome{unasked: request.unasked}
	if h.path, _, err = locate(request.ProfileHome); err != nil {
		if errors.Is(err, statedb.ErrMissing) {
			d.expireWithoutStore(ctx, h.path)
		}
		return err
	}
	if _, err := statedb.LookAtAgent(request.AgentDir); err != nil {
		return err
	}
	routes := d.routesOf(ctx, h.path, request.BaseHome)
	lock := d.locks.Lock
	if request.unasked {
		lock = d.locks.TryLock // a delete shall not stand behind a watcher that waits
	}
	asked := time.Now()
	unlock, err := lock(ctx, h.path)
	spend(&request.durations().HomeLock, asked)
	if err != nil {
		return err
	}
	defer func() {
		faultpoint.Hit(faultpoint.BeforeLocksAreReleased)
		unlock()
		routes.settle(ctx) // with no lock of this home: it waits for another store
	}()
	if h.store, err = statedb.Locate(h.path); err != nil {
		return err
	}
	if h.folder, err = cleanup.Open(h.path, request.ProfileHome); err != nil {
		return err
	}
	defer h.folder.Close()
	h.before, _ = d.process(ctx, h, nil)
	d.tidyTrashWhenDue(ctx, h, request.unasked)
	defer d.stores.settle(h.store)
	return work(h)
}

// locate gives a home's one path and that of the store in it, for what takes no lock, or does not yet. Nothing is created.
func locate(profileHome string) (homePath, store string, err error) {
	if homePath, err = home.Resolve(profileHome); err != nil {
		return "", "", err
	}
	store, err = statedb.Locate(homePath)
	return homePath, store, err
}

// isMissing tells whether there is nothing that could be deleted from: no home, or no store in it.
func isMissing(err error) bool {
	return errors.Is(err, home.ErrMissing) || errors.Is(err, statedb.ErrMissing)
}

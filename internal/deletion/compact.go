package deletion

import (
	"context"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/statedb"
)

// Compact gives the free pages of a home's store back, under the home's locks so that no delete waits behind it unseen.
// It waits for nobody (contract 5d): locks.ErrHeld or statedb.ErrBusy at once. A guard is no obstacle: no row changes.
func (d *Deleter) Compact(
	ctx context.Context, profileHome string, progress func(statedb.CompactProgress),
) (*statedb.Compacted, error) {
	homePath, _, err := locate(profileHome) // before the lock: a home without a store gets no lock file
	if err != nil {
		return nil, err
	}
	unlock, err := d.locks.TryLock(ctx, homePath)
	if err != nil {
		return nil, err
	}
	defer func() {
		faultpoint.Hit(faultpoint.BeforeLocksAreReleased)
		unlock()
	}()
	store, err := statedb.Locate(homePath)
	if err != nil {
		return nil, err
	}
	return statedb.Compact(ctx, store, progress)
}

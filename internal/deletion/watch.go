package deletion

import (
	"context"
	"errors"

	"session-sidecar/cleanup"
	"session-sidecar/locks"
)

// CleanUp works through what earlier deletes left in a home, as a crash may have, and does nothing else (contract 6.5). A
// home without a store has nothing that may be removed.
func (d *Deleter) CleanUp(ctx context.Context, profileHome string) error {
	_, err := d.cleanUp(ctx, Request{ProfileHome: profileHome})
	if isMissing(err) {
		return nil
	}
	return err
}

// CleanUpNow is CleanUp for a caller who wants to hear what is left, and of a home or a store that is not there. Routes are
// settled too. It waits for the home's locks as a delete does.
func (d *Deleter) CleanUpNow(ctx context.Context, profileHome, baseHome string) (cleanup.Report, error) {
	return d.cleanUp(ctx, Request{ProfileHome: profileHome, BaseHome: baseHome})
}

func (d *Deleter) cleanUp(ctx context.Context, request Request) (report cleanup.Report, err error) {
	err = d.inHome(ctx, request, func(h lockedHome) error {
		report = h.before
		return ctx.Err()
	})
	return report, err
}

// Watch has the leftovers of a home worked through unasked, from now on and at once (contract 6.4), whenever nobody else holds
// its locks. The home need not be there yet. The channel is closed when it is known how it is watched.
func (d *Deleter) Watch(profileHome, baseHome string) (begun <-chan struct{}) {
	return d.watcher.Watch(profileHome, func(ctx context.Context, homePath string) (cleanup.Report, error) {
		report, err := d.cleanUp(ctx, Request{ProfileHome: profileHome, BaseHome: baseHome, unasked: true})
		if isMissing(err) {
			err = nil // nothing may be removed before a store comes
		}
		if ctx.Err() == nil && !errors.Is(err, locks.ErrHeld) {
			d.warnOnce("a watched home cannot be cleaned up", homePath, err)
		}
		return report, err
	})
}

// Unwatch ends that.
func (d *Deleter) Unwatch(profileHome string) { d.watcher.Unwatch(profileHome) }

// Watches tells which homes are watched and how.
func (d *Deleter) Watches() []cleanup.Watch { return d.watcher.Watches() }

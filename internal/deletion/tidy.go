package deletion

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"session-sidecar/internal/trash"
)

// This file keeps the trash of a home in order (contract 10.2, 10.4).

// longestKept is how long an entry may be kept.
const longestKept = 90 * day

// tidyTrashWhenDue tidies the trash of a home when it is first used, when an entry has been kept for long enough, whenever the watcher
// comes by, and when something is there that this process has not looked at: another one may have crashed and left it, and what is
// deleted now must not be found in it.
func (d *Deleter) tidyTrashWhenDue(ctx context.Context, h lockedHome, watcher bool) {
	at, known := d.tidyAt.Load(h.path)
	if watcher || !known || !time.Now().Before(at.(time.Time)) || d.hasStrangers(h) {
		d.tidyTrash(ctx, h)
	}
}

// hasStrangers tells whether the trash holds a name that was not there when it was last tidied, nor was written here since.
func (d *Deleter) hasStrangers(h lockedHome) bool {
	folder, err := trash.Open(h.path)
	if err != nil {
		return false // tidying would fail alike
	}
	defer folder.Close()
	names, err := folder.Names()
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		_, met := d.metInTrash.Load(filepath.Join(h.path, name))
		return !met
	})
}

// meet notes names of the trash that need no further look until one is due.
func (d *Deleter) meet(homePath string, names ...string) {
	for _, name := range names {
		d.metInTrash.Store(filepath.Join(homePath, name), true)
	}
}

// tidyNoLaterThan has the trash of a home looked through at its first use from then on.
func (d *Deleter) tidyNoLaterThan(homePath string, due time.Time) {
	if at, known := d.tidyAt.Load(homePath); !known || due.Before(at.(time.Time)) {
		d.tidyAt.Store(homePath, due)
	}
}

// tidyTrash takes away what has been kept for long enough, what stands for nothing, and what a crash left half written. It runs under
// the home's locks before anything else there (contract 10.2, 10.4). What fails is tried again the next time.
func (d *Deleter) tidyTrash(ctx context.Context, h lockedHome) {
	folder, err := trash.Open(h.path)
	if err == nil {
		defer folder.Close()
		err = d.tidyEntries(ctx, h, folder)
	}
	if err != nil {
		d.tidyAt.Delete(h.path)
	}
	if ctx.Err() == nil {
		d.warnOnce("the trash was not tidied", h.path, err)
	}
}

func (d *Deleter) tidyEntries(ctx context.Context, h lockedHome, folder *trash.Folder) error {
	if err := folder.RemoveTemporary(); err != nil {
		return err
	}
	d.tidyAt.Store(h.path, time.Now().Add(longestKept))
	entries, err := folder.Headers()
	if err != nil {
		return err
	}
	for _, e := range entries {
		goes := e.Expired(time.Now())
		if !goes {
			if goes, err = d.isTrace(ctx, h.path, folder, e); err != nil {
				return err
			}
		}
		if !goes {
			d.tidyNoLaterThan(h.path, e.Until())
			continue
		}
		if err := d.removeWhole(h.path, folder, e.OperationID); err != nil {
			return err
		}
	}
	names, err := folder.Names()
	d.meet(h.path, names...)
	return err
}

// removeWhole removes an entry, unless it is damaged: such a one goes only where it is named.
func (d *Deleter) removeWhole(homePath string, folder *trash.Folder, operation string) error {
	_, err := folder.Check(operation)
	if err == nil {
		err = folder.Remove(operation)
	}
	switch {
	case err == nil:
		d.log.Info("an entry of the trash is gone", "home", homePath, "operation", operation)
	case errors.Is(err, trash.ErrDamaged), errors.Is(err, trash.ErrNotFound):
		return nil
	}
	return err
}

// expireWithoutStore takes away what has been kept for long enough in a home whose store is gone, since nothing else will ever look
// there. Such a home has no locks; nobody else needs an entry whose time is over.
func (d *Deleter) expireWithoutStore(homePath string) {
	err := func() error {
		folder, err := trash.Open(homePath)
		if err != nil {
			return err
		}
		defer folder.Close()
		entries, err := folder.Headers()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Expired(time.Now()) {
				err = errors.Join(err, d.removeWhole(homePath, folder, e.OperationID))
			}
		}
		return err
	}()
	d.warnOnce("the trash was not tidied", homePath, err)
}

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
	if watcher || d.isTidyDue(h.path) || slices.ContainsFunc(namesInTrash(h.path), d.isStranger(h.path)) {
		d.tidyTrash(ctx, h)
	}
}

// tidyIfFree is tidyTrashWhenDue for a look at the trash, which waits for nobody: where the home is in use, the next use tidies. Where
// there is no trash it takes no lock.
func (d *Deleter) tidyIfFree(ctx context.Context, homePath string) {
	names := namesInTrash(homePath)
	if len(names) == 0 || !d.isTidyDue(homePath) && !slices.ContainsFunc(names, d.isStranger(homePath)) {
		return
	}
	unlock, err := d.locks.TryLock(ctx, homePath)
	if err != nil {
		return
	}
	defer unlock()
	d.tidyTrash(ctx, lockedHome{path: homePath})
}

func (d *Deleter) isTidyDue(homePath string) bool {
	at, known := d.tidyAt.Load(homePath)
	return !known || !time.Now().Before(at.(time.Time))
}

// isStranger tells of a name in the trash whether it was not there when that was last tidied, nor was written here since.
func (d *Deleter) isStranger(homePath string) func(name string) bool {
	return func(name string) bool {
		_, met := d.metInTrash.Load(filepath.Join(homePath, name))
		return !met
	}
}

// namesInTrash is empty where the trash cannot be listed: tidying would fail alike.
func namesInTrash(homePath string) []string {
	folder, err := trash.Open(homePath)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Names()
	return names
}

// meet notes names of the trash that need no further look until one is due.
func (d *Deleter) meet(homePath string, names ...string) {
	for _, name := range names {
		d.metInTrash.Store(filepath.Join(homePath, name), true)
	}
}

// noteEntry has an entry that was written here tidied when its time is over, and not looked at before.
func (d *Deleter) noteEntry(homePath string, entry trash.Header) {
	d.meet(homePath, trash.Name(entry.OperationID))
	d.tidyNoLaterThan(homePath, entry.Until())
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

// tidyEntries does what it can: one bad entry keeps no other.
func (d *Deleter) tidyEntries(ctx context.Context, h lockedHome, folder *trash.Folder) error {
	failed := []error{folder.RemoveTemporary()}
	d.tidyAt.Store(h.path, time.Now().Add(longestKept))
	entries, err := folder.Headers()
	failed = append(failed, err)
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = append(failed, d.tidyEntry(ctx, h, folder, e))
	}
	names, err := folder.Names()
	d.meet(h.path, names...)
	return errors.Join(append(failed, err)...)
}

func (d *Deleter) tidyEntry(ctx context.Context, h lockedHome, folder *trash.Folder, e trash.Header) (err error) {
	goes := e.Expired(time.Now())
	if !goes {
		d.tidyNoLaterThan(h.path, e.Until())
		goes, err = d.isTrace(ctx, h.path, folder, e)
	}
	if err != nil || !goes {
		return err
	}
	return d.removeWhole(ctx, h.path, folder, e.OperationID)
}

// removeWhole removes an entry, unless it is damaged: such a one goes only where it is named.
func (d *Deleter) removeWhole(ctx context.Context, homePath string, folder *trash.Folder, operation string) error {
	_, err := folder.Check(ctx, operation)
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
func (d *Deleter) expireWithoutStore(ctx context.Context, homePath string) {
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
				err = errors.Join(err, d.removeWhole(ctx, homePath, folder, e.OperationID))
			}
		}
		return err
	}()
	d.warnOnce("the trash was not tidied", homePath, err)
}

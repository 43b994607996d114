package deletion

import (
	"context"
	"fmt"
	"time"

	"session-sidecar/internal/trash"
)

// Trash lists what can be restored in a home, the newest first. Entries of deletes that are under way, or never happened, are not in
// it, nor those whose time is over: a restore would not find them. It is a use of the home: what is due goes, unless somebody is at work
// there.
func (d *Deleter) Trash(ctx context.Context, profileHome string) (listing trash.Listing, err error) {
	homePath, _, err := locate(profileHome)
	if err != nil {
		return trash.Listing{}, err
	}
	d.tidyIfFree(ctx, homePath)
	folder, err := trash.Open(homePath)
	if err != nil {
		return trash.Listing{}, err
	}
	defer folder.Close()
	listing, err = d.entries.List(ctx, folder, homePath)
	if err != nil {
		return trash.Listing{}, err
	}
	var kept []trash.Entry
	for _, e := range listing.Entries {
		trace, err := d.isTrace(ctx, homePath, folder, e.Header)
		if err != nil {
			return trash.Listing{}, err
		}
		if !trace && !e.Expired(time.Now()) {
			kept = append(kept, e)
		}
	}
	listing.Entries = kept
	return listing, nil
}

// Purged is what a purge did.
type Purged struct {
	Entries    int
	Unreadable []string // names of entries that stay, since nobody named them; only of a purge of all
}

// PurgeTrash removes one entry for good, or all that could be restored where none is named. One that cannot be read goes only where it
// is named.
func (d *Deleter) PurgeTrash(ctx context.Context, request Request, operation string) (purged Purged, err error) {
	err = d.inHome(ctx, request, func(h lockedHome) error {
		folder, err := trash.Open(h.path)
		if err != nil {
			return err
		}
		defer folder.Close()
		if operation != "" {
			err := folder.Remove(operation)
			if err == nil {
				purged.Entries = 1
			}
			return err
		}
		d.tidyTrash(ctx, h) // what stands for nothing is not counted
		listing, err := d.entries.List(ctx, folder, h.path)
		if err != nil {
			return err
		}
		purged.Unreadable = listing.Unreadable
		for _, e := range listing.Entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := folder.Remove(e.OperationID); err != nil {
				if purged.Entries > 0 {
					err = fmt.Errorf("after %d entries: %w", purged.Entries, err)
				}
				return err
			}
			purged.Entries++
		}
		return nil
	})
	return purged, err
}

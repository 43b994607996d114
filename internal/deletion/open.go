package deletion

import (
	"context"
	"errors"
	"sync"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/statedb"
)

// keepOpen is how long a store stays open for the next delete: long enough for one who deletes one conversation after the other, and
// not so long that it is in the way of whoever moves the store.
const keepOpen = 2 * time.Second

// openStores keeps the connection of a delete, and what was learned over it, for the next delete in the same store. Whoever takes one
// holds the home's locks. The zero value is ready.
type openStores struct {
	mu     sync.Mutex
	closed bool
	idle   map[string]*idleStore // by the store's path
}

type idleStore struct {
	look  *statedb.Look
	close *time.Timer
}

// take gives a look at a store as it is now. What another process may have changed without telling SQLite is opened anew.
func (o *openStores) take(ctx context.Context, path string, patience time.Duration) (*statedb.Look, error) {
	if look := o.reuse(ctx, path); look != nil {
		return look, nil
	}
	return statedb.StartLook(ctx, path, patience)
}

// reuse is take for what needs no connection of its own: nil where none is kept that would do.
func (o *openStores) reuse(ctx context.Context, path string) *statedb.Look {
	kept := o.remove(path, nil)
	if kept == nil {
		return nil
	}
	if !kept.look.Untouched() || kept.look.Again(ctx) != nil {
		kept.look.Close()
		return nil
	}
	return kept.look
}

// liveIn asks a home's store which ids are live, over a connection that is open where there is one.
func (d *Deleter) liveIn(h lockedHome) cleanup.LiveFunc {
	return func(ctx context.Context, ids []string) (map[string]bool, error) {
		if look := d.stores.reuse(ctx, h.store); look != nil {
			live, err := look.LiveIDs(ctx, ids)
			d.stores.giveBack(h.store, look)
			if err == nil {
				return live, nil
			}
		}
		return statedb.LiveIDs(ctx, h.path, ids)
	}
}

// notedFiles reads which files a home's store has noted, likewise.
func (d *Deleter) notedFiles(ctx context.Context, h lockedHome) (statedb.FileNotes, error) {
	if look := d.stores.reuse(ctx, h.store); look != nil {
		notes, err := look.NotedFiles(ctx)
		d.stores.giveBack(h.store, look)
		if err == nil {
			return notes, nil
		}
	}
	return statedb.NotedFiles(ctx, h.store)
}

// remove takes one out, the one that is meant or whichever is there.
func (o *openStores) remove(path string, meant *idleStore) *idleStore {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.idle[path]
	if kept == nil || meant != nil && kept != meant {
		return nil
	}
	kept.close.Stop()
	delete(o.idle, path)
	return kept
}

// giveBack keeps a look for a while.
func (o *openStores) giveBack(path string, look *statedb.Look) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.idle[path] != nil || look.Rest() != nil {
		look.Close()
		return
	}
	kept := &idleStore{look: look}
	kept.close = time.AfterFunc(keepOpen, func() {
		if o.remove(path, kept) != nil {
			look.Close()
		}
	})
	if o.idle == nil {
		o.idle = map[string]*idleStore{}
	}
	o.idle[path] = kept
}

// isSound tells whether a connection is as good as before after a delete that ended so.
func isSound(err error) bool {
	for _, bad := range []error{statedb.ErrIO, statedb.ErrCorrupt, statedb.ErrOutcomeUnknown, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, bad) {
			return false
		}
	}
	return true
}

// closeAll closes all that is kept, and keeps none from now on.
func (o *openStores) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for path, kept := range o.idle {
		kept.close.Stop()
		kept.look.Close()
		delete(o.idle, path)
	}
}

package deletion

import (
	"context"
	"errors"
	"sync"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/statedb"
)

// How long a store stays open for the next delete: long enough for one who deletes one conversation after the other, and not so long that
// it is in the way of whoever moves the store. Meanwhile its files are looked at every now and then: whoever opens them after somebody
// has put others in their place, or after an Agent has left, must not find that we still hold what was there before.
const (
	keepOpen   = 500 * time.Millisecond
	lookAgain  = 20 * time.Millisecond
	keepAtOnce = 4 // stores, since each holds descriptors and memory
)

// openStores keeps the connection of a delete, and what was learned over it, for the next delete in the same store. Whoever takes one
// holds the home's locks. The zero value is ready.
type openStores struct {
	mu     sync.Mutex
	closed bool
	idle   map[string]*idleStore // by the store's path
}

type idleStore struct {
	look  *statedb.Look
	until time.Time
	watch *time.Timer
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
	kept := o.remove(path)
	if kept == nil {
		return nil
	}
	if !kept.look.Untouched() || kept.look.Again(ctx) != nil {
		kept.look.Close()
		return nil
	}
	return kept.look
}

// askKept asks a store over the connection that is kept open, where there is one and it answers; else over one of its own. The home's locks
// are held.
func askKept[T any](ctx context.Context, o *openStores, path string, kept func(*statedb.Look) (T, error), own func() (T, error)) (T, error) {
	if look := o.reuse(ctx, path); look != nil {
		answer, err := kept(look)
		o.giveBack(path, look)
		if err == nil {
			return answer, nil
		}
	}
	return own()
}

// liveUnderLocks is liveIn for whoever holds the home's locks.
func (d *Deleter) liveUnderLocks(h lockedHome) cleanup.LiveFunc {
	return func(ctx context.Context, ids []string) (map[string]bool, error) {
		return askKept(ctx, &d.stores, h.store,
			func(look *statedb.Look) (map[string]bool, error) { return look.LiveIDs(ctx, ids) },
			func() (map[string]bool, error) { return statedb.LiveIDs(ctx, h.path, ids) })
	}
}

// notedFiles reads which files a home's store has noted.
func (d *Deleter) notedFiles(ctx context.Context, h lockedHome) (statedb.FileNotes, error) {
	return askKept(ctx, &d.stores, h.store,
		func(look *statedb.Look) (statedb.FileNotes, error) { return look.NotedFiles(ctx) },
		func() (statedb.FileNotes, error) { return statedb.NotedFiles(ctx, h.store) })
}

// remove takes one out, if it is there.
func (o *openStores) remove(path string) *idleStore {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.idle[path]
	if kept != nil {
		kept.watch.Stop()
		delete(o.idle, path)
	}
	return kept
}

// giveBack keeps a look for a while.
func (o *openStores) giveBack(path string, look *statedb.Look) {
	if look.Rest() != nil {
		look.Close()
		return
	}
	if dropped := o.keep(path, look); dropped != nil {
		dropped.Close()
	}
}

// keep gives what has to be closed instead: this one, or the oldest of too many.
func (o *openStores) keep(path string, look *statedb.Look) (dropped *statedb.Look) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.idle[path] != nil {
		return look
	}
	if o.idle == nil {
		o.idle = map[string]*idleStore{}
	}
	if len(o.idle) == keepAtOnce {
		oldest := ""
		for name, kept := range o.idle {
			if oldest == "" || kept.until.Before(o.idle[oldest].until) {
				oldest = name
			}
		}
		dropped = o.idle[oldest].look
		o.idle[oldest].watch.Stop()
		delete(o.idle, oldest)
	}
	kept := &idleStore{look: look, until: time.Now().Add(keepOpen)}
	kept.watch = time.AfterFunc(lookAgain, func() { o.lookAfter(path, kept) })
	o.idle[path] = kept
	return dropped
}

// lookAfter closes a kept look when its time is over, or when somebody else was at the store's files.
func (o *openStores) lookAfter(path string, kept *idleStore) {
	o.mu.Lock()
	if o.idle[path] != kept {
		o.mu.Unlock()
		return
	}
	if time.Now().Before(kept.until) && kept.look.Untouched() {
		kept.watch.Reset(lookAgain)
		o.mu.Unlock()
		return
	}
	delete(o.idle, path)
	o.mu.Unlock()
	kept.look.Close()
}

// settle has a store that stays open hold all that was committed in its own file, before anybody hears that a delete is done: its log is
// empty then, as it is when the last connection closes. Where that cannot be, it does not stay open.
func (o *openStores) settle(path string) {
	kept := o.remove(path)
	if kept == nil {
		return
	}
	if !kept.look.Settle() {
		kept.look.Close()
		return
	}
	o.giveBack(path, kept.look)
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
		kept.watch.Stop()
		kept.look.Close()
		delete(o.idle, path)
	}
}

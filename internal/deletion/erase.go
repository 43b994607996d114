package deletion

import (
	"context"
	"sync"

	"session-sidecar/statedb"
)

// Purge rids a home's store of what deletes leave in its full-text indexes and in its log, when their rows and files are gone
// (contract 6b). It never fails: what it could not do is pending, or busy, and the log of this program says why.
//
// No lock of the home is held meanwhile. A purge may take many seconds, and there is nothing in it that a delete could spoil, in
// this process or another: each of its steps is one transaction over an index as it is just then. What a delete in between takes
// back lies in newer segments, which its own purge takes care of; a purge in between puts everything into a merge of its own, and
// both carry that to its end. Only in this process one purge of a home waits for the other: several at once would leave other
// writers no room between their steps, and the second finds the work done.
func (d *Deleter) Purge(ctx context.Context, profileHome string, progress func(statedb.PurgeProgress)) statedb.Erasure {
	erasure := statedb.Erasure{Indexes: statedb.IndexesPending, WAL: statedb.LogBusy}
	homePath, store, err := locate(profileHome)
	var release func()
	if err == nil {
		release, err = d.purges.take(ctx, homePath)
	}
	if err == nil {
		defer release()
		erasure, err = statedb.Purge(ctx, store, progress)
	}
	if err != nil && ctx.Err() == nil {
		d.log.Warn("a purge is not finished", "home", profileHome, "error", err)
	}
	return erasure
}

// turns lets those who want the same thing have it one after the other. The zero value is ready.
type turns struct {
	mu sync.Mutex
	of map[string]chan struct{} // whoever could put something in has the turn
}

// take waits for a turn and gives the function that ends it. A cancelled context ends the wait with its error.
func (t *turns) take(ctx context.Context, name string) (release func(), err error) {
	t.mu.Lock()
	if t.of == nil {
		t.of = map[string]chan struct{}{}
	}
	if t.of[name] == nil {
		t.of[name] = make(chan struct{}, 1)
	}
	turn := t.of[name]
	t.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

package deletion

import (
	"log/slog"
	"sync"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/statedb"
)

// Deleter runs deletes. Use New, and Close at the end.
type Deleter struct {
	log      *slog.Logger
	locks    locks.Homes
	patience time.Duration

	background *background
	entries    trash.Checker
	metInTrash sync.Map // paths of trash that this process has looked at, or written
	tidyAt     sync.Map // resolved home -> time.Time: when its trash is to be looked through again
	purges     turns    // by home
	stores     openStores
	watcher    *cleanup.Watcher

	mu        sync.Mutex
	runs      map[string]Run // the newest of each home, by its resolved path
	ran       uint64         // all of them
	tell      func(Change)   // of what a run changed; see OnChange
	said      map[string]string
	sightings map[string]map[string]statedb.Sighting // by home, then by path of media: who named it when last asked
}

// New makes a Deleter that logs to log. A log line never holds a title, a message or a config. End it with Close.
func New(log *slog.Logger) *Deleter {
	return &Deleter{
		log: log, patience: statedb.Patience, background: newBackground(), runs: map[string]Run{},
		tell: func(Change) {}, said: map[string]string{}, sightings: map[string]map[string]statedb.Sighting{},
		watcher: cleanup.NewWatcher(log),
	}
}

// closeWithin is how long Close waits for what goes on in the background. Nothing there waits without hearing of the end.
const closeWithin = 100 * time.Millisecond

// Close ends what goes on behind the calls, and waits for it a little. What it cuts off is found and done by the next process
// that uses the home, as after a crash. Calls may still be made; they start nothing any more.
func (d *Deleter) Close() {
	b := d.background
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.end()
	done := make(chan struct{})
	go func() {
		d.watcher.Close()
		b.running.Wait()
		d.stores.closeAll()
		close(done)
	}()
	timer := time.NewTimer(closeWithin)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

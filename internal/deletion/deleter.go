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

package cleanup

import (
	"context"
	"errors"
	"sync"
	"time"

	"session-sidecar/internal/home"
)

var (
	errJustBegun = errors.New("the watch has just begun")
	errLost      = errors.New("events were lost")
)

// watchedHome is one home that is watched, by one goroutine of its own: so there are never two passes at once.
type watchedHome struct {
	watcher *Watcher
	named   string // as it was asked for, made absolute
	pass    Pass
	ctx     context.Context
	end     context.CancelFunc
	noticed chan struct{} // holds one at most: something has happened that may matter
	begun   chan struct{} // closed when it is known how the home is watched

	// Of the goroutine alone.
	away error // why the home cannot be found
	seen glance
	plan agenda
	deaf error           // why the system tells nothing
	said map[string]bool // each reason to poll, once

	mu       sync.Mutex
	path     string // resolved, where it is there
	folder   string // sessions/, resolved, where it is there
	polling  error  // why it is polled; nil where events come
	asked    bool   // for a pass, whatever is seen
	lost     error  // that events were lost, and until when they are not relied on
	lostTill time.Time
	listens  bool            // to what happens to the store
	stuckIDs map[string]bool // and to the artifacts of these
}

func newWatchedHome(w *Watcher, path string, pass Pass) *watchedHome {
	h := &watchedHome{
		watcher: w, named: path, path: path, pass: pass, polling: errJustBegun, said: map[string]bool{},
		noticed: make(chan struct{}, 1), begun: make(chan struct{}),
	}
	h.ctx, h.end = context.WithCancel(w.ctx)
	return h
}

// listen says which events matter until the next pass.
func (h *watchedHome) listen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listens = h.plan.listensToStore()
	h.stuckIDs = h.plan.left.stuck()
}

// happened hears of an event: of a name in a folder, or of the folder itself. It is told of every one and does not wait.
func (h *watchedHome) happened(folder, name string) (matters bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	matters = name == ""
	if folder == h.path {
		ofStore := name == home.StoreName || name == home.StoreName+walSuffix
		matters = matters || name == FolderName || ofStore && h.listens
		h.listens = h.listens && !ofStore // one is enough: it may be written all the time
	}
	if folder == h.folder {
		matters = matters || isManifest(name) || len(h.stuckIDs) > 0 && len(claims([]string{name}, h.stuckIDs)) > 0
	}
	if matters {
		h.notice()
	}
	return matters
}

// ask has a pass made, whatever is seen.
func (h *watchedHome) ask() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = true
	h.notice()
}

// missed has a pass made, and the home polled until the timer comes round: some events did not come.
func (h *watchedHome) missed(err error, until time.Time) {
	h.mu.Lock()
	h.lost, h.lostTill = err, until
	h.mu.Unlock()
	h.ask()
}

func (h *watchedHome) takeAsked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = false
	return asked
}

func (h *watchedHome) notice() {
	select {
	case h.noticed <- struct{}{}:
	default:
	}
}

// how tells how the home is watched, and why so.
func (h *watchedHome) how() (How, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.polling != nil {
		return ByPolling, h.polling.Error()
	}
	return ByEvents, ""
}

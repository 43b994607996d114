package cleanup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"session-sidecar/internal/home"
)

// How says how a home is watched.
type How string

// The two ways. With events a home is also looked at by the timer, every five minutes at most: they may be lost, or never sent.
const (
	ByEvents  How = "events"
	ByPolling How = "polling"
)

// Watch tells how one home is watched.
type Watch struct {
	Path string // resolved, where the home is there
	How  How
	Why  string // for polling: why no events come
}

// Pass works through what is left in a resolved home, under its locks, and tells what it could not settle. An error means that
// it could not be worked through at all. A home without a store has nothing that may be removed: that is no error.
type Pass func(ctx context.Context, homePath string) (Report, error)

// Watcher has homes worked through when a manifest comes or what is pending may go, unasked (contract 6.4). End it with Close.
type Watcher struct {
	log *slog.Logger

	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	events  *events

	mu       sync.Mutex
	homes    map[string]*watchedHome // by path
	overflow sync.Once               // said once
}

// NewWatcher makes a watcher of no homes yet.
func NewWatcher(log *slog.Logger) *Watcher {
	w := &Watcher{log: log, homes: map[string]*watchedHome{}}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.events = newEvents(w.lost)
	return w
}

// Watch begins to watch a home, which need not be there, and works through it at once. It waits for no disk: the channel is
// closed when it is known how the home is watched. One that is watched already stays so. pass is never called twice at once
// for one home. After Close nothing is watched.
func (w *Watcher) Watch(profileHome string, pass Pass) (begun <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := named(profileHome)
	for at, known := range w.homes {
		if known.named == path || at == path { // by this name, or by another one that leads here
			return known.begun
		}
	}
	h := newWatchedHome(w, path, pass)
	if w.ctx.Err() != nil {
		close(h.begun)
		return h.begun
	}
	w.homes[path] = h
	w.running.Go(h.tend)
	return h.begun
}

// Unwatch ends the watch of a home, by whatever name. A pass that has begun is cut off, as by a crash.
func (w *Watcher) Unwatch(profileHome string) {
	resolved, _ := home.Resolve(profileHome)
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, h := range w.homes {
		if path == resolved || h.named == named(profileHome) {
			h.end()
			delete(w.homes, path)
		}
	}
}

// named is what a home goes by until it can be resolved.
func named(profileHome string) string { return cmp.Or(home.AsNamed(profileHome), profileHome) }

// Watches tells which homes are watched and how, by their paths.
func (w *Watcher) Watches() []Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	watches := []Watch{}
	for path, h := range w.homes {
		how, why := h.how()
		watches = append(watches, Watch{path, how, why})
	}
	slices.SortFunc(watches, func(a, b Watch) int { return strings.Compare(a.Path, b.Path) })
	return watches
}

// Nudge has a home worked through, if it is watched: somebody else has left something in it, or found a change.
func (w *Watcher) Nudge(homePath string) {
	w.mu.Lock()
	h := w.homes[homePath]
	w.mu.Unlock()
	if h != nil {
		h.ask()
	}
}

// Close ends all watches and waits for the passes under way, which hear of it.
func (w *Watcher) Close() {
	w.end()
	w.running.Wait()
	w.events.close()
}

// lost has every home looked through: nobody knows what the events said that did not come.
func (w *Watcher) lost(err error) {
	w.overflow.Do(func() {
		w.log.Warn("events of watched homes were lost; they are looked through, and polled for a while", "error", err)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.homes {
		h.missed(fmt.Errorf("%w: %w", errLost, err), time.Now().Add(longestPause))
	}
}

// rename enters a home under the path that it turned out to have. It fails where that is watched already, or the watch of
// this one was ended.
func (w *Watcher) rename(h *watchedHome, from, to string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.homes[from] != h {
		return false
	}
	delete(w.homes, from)
	if w.homes[to] != nil {
		return false
	}
	w.homes[to] = h
	return true
}

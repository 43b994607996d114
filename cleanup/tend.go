package cleanup

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"session-sidecar/internal/home"
)

// How a home is looked at between two passes.
const (
	quietFor  = 200 * time.Millisecond // without a further event, before what they tell is looked at (contract 6.4)
	noisyFor  = 2 * time.Second        // at most, where events do not end
	pollEvery = 2 * time.Second        // where no events come
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

// tend watches the home until the watch ends: at once it works through what is there, then whenever something has come or may
// have mended, and by the timer.
func (h *watchedHome) tend() {
	defer h.leave()
	for first := true; h.locate(); first = false {
		now := time.Now()
		asked := h.takeAsked()
		h.look(now, first)
		if first {
			close(h.begun)
		}
		if h.plan.due(h.seen, now) || asked && h.seen.there {
			if h.deaf != nil && !first {
				h.look(now, true) // a good time to see whether the system tells by now
			}
			report, err := h.pass(h.ctx, h.path)
			h.watcher.log.Debug("a watched home was worked through", "home", h.path, "asked", asked, "events", h.polling == nil,
				"removed_count", len(report.Removed), "pending_count", len(report.Pending), "unreadable_count", len(report.Unreadable),
				"total_ms", float64(time.Since(now).Microseconds())/1e3)
			h.plan.passed(h.seen, look(h.path, glance{}), leftoverOf(report, err), time.Now())
		}
		h.listen()
		if !h.wait() {
			return
		}
	}
}

// leave ends all that this home asked for.
func (h *watchedHome) leave() {
	h.end()
	_, _ = h.watcher.events.subscribe(h)
	select {
	case <-h.begun:
	default:
		close(h.begun)
	}
}

// locate resolves the home anew: it may have come, or a link on the way may lead elsewhere now. It fails where another watch
// has that home already.
func (h *watchedHome) locate() bool {
	path, err := home.Resolve(h.named)
	h.away = err
	if err != nil || path == h.path {
		return true // what is not there keeps its name
	}
	if !h.watcher.rename(h, h.path, path) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.path, h.plan.known = path, glance{}
	return true
}

// look takes a glance at the home and sees to it that its events come. Where that has failed it is tried again when again says
// so, or when something has come that was not there.
func (h *watchedHome) look(now time.Time, again bool) {
	earlier := h.seen
	h.seen = look(h.path, earlier)
	came := h.seen.there != earlier.there || h.seen.folder != earlier.folder
	switch {
	case !h.seen.there:
		_, _ = h.watcher.events.subscribe(h)
		h.deaf = nil
	case h.deaf == nil, again, came:
		if h.hear() {
			h.seen = look(h.path, glance{}) // once more, for what came before it was heard of
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folder = h.seen.folder
	switch {
	case !h.seen.there:
		if h.polling = h.away; h.away == nil { // it went just now
			h.polling = home.ErrMissing
		}
	case h.deaf != nil:
		h.polling = h.deaf
	case h.seen.why != nil:
		h.polling = h.seen.why
	case now.Before(h.lostTill):
		h.polling = h.lost
	default:
		h.polling = nil
	}
	h.tellOnce(h.polling)
}

// hear asks for the events of the home's folders.
func (h *watchedHome) hear() (fresh bool) {
	folders := []string{h.path}
	if h.seen.folder != "" {
		folders = append(folders, h.seen.folder)
	}
	h.mu.Lock()
	h.folder = h.seen.folder // before the first event of it
	h.mu.Unlock()
	fresh, h.deaf = h.watcher.events.subscribe(h, folders...)
	return fresh
}

// tellOnce logs each reason to poll the first time.
func (h *watchedHome) tellOnce(why error) {
	if why == nil || errors.Is(why, errLost) || h.said[why.Error()] {
		return
	}
	h.said[why.Error()] = true
	level := slog.LevelWarn
	if errors.Is(why, home.ErrMissing) || errors.Is(why, errOpensFiles) {
		level = slog.LevelInfo // nothing has failed
	}
	h.watcher.log.Log(h.ctx, level, "a watched home is polled", "home", h.path, "why", why)
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

// wait waits for the time of the next pass or look, or for an event and the quiet after it. It is false when the watch ends.
func (h *watchedHome) wait() bool {
	h.mu.Lock()
	polling := h.polling != nil
	h.mu.Unlock()
	limit := time.Until(h.plan.passAt)
	if polling {
		pause := pollEvery - rand.N(pollEvery/4)
		if limit = min(limit, pause); !h.seen.there {
			limit = pause
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-h.ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-h.noticed:
		return h.quieten()
	}
}

// quieten waits until nothing has happened for a while.
func (h *watchedHome) quieten() bool {
	enough := time.NewTimer(noisyFor)
	defer enough.Stop()
	for {
		quiet := time.NewTimer(quietFor)
		select {
		case <-h.ctx.Done():
			quiet.Stop()
			return false
		case <-enough.C:
			quiet.Stop()
			return true
		case <-quiet.C:
			return true
		case <-h.noticed:
			quiet.Stop()
		}
	}
}

package cleanup

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"session-sidecar/internal/home"
)

// How a home is looked at between two passes.
const (
	quietFor  = 200 * time.Millisecond // without a further event, before what they tell is looked at (contract 6.4)
	noisyFor  = 2 * time.Second        // at most, where events do not end
	pollEvery = 2 * time.Second        // where no events come
)

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

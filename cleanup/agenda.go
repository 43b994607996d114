package cleanup

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// When a home that is watched is worked through (contract 6.4).
const (
	firstPause   = time.Second     // before what is pending is tried again by the timer; it doubles
	longestPause = 5 * time.Minute // also where nothing is pending: events may be lost, or never sent

	// leastGap is between two passes for what happens beside the manifests: a store that is written all the time, a folder
	// that an Agent works in.
	leastGap = 5 * time.Second
)

// leftover is what a pass over a home left, as far as it decides on the next one.
type leftover struct {
	pending    []Pending
	unreadable []string
	failed     bool // the store could not be asked, or the home not be worked through at all
}

func leftoverOf(r Report, err error) leftover {
	return leftover{r.Pending, r.Unreadable, err != nil || r.Failed != nil}
}

// mayGo tells whether time may mend it. An id that is unsafe as a name never becomes safe.
func (l leftover) mayGo() bool {
	return l.failed || len(l.unreadable) > 0 || l.has(CauseSessionLive, CauseArtifactStuck, CauseMediaFailed)
}

// waitsForStore tells whether a change in the store may be what it waits for.
func (l leftover) waitsForStore() bool { return l.failed || l.has(CauseSessionLive) }

// waitsForFolder tells whether a name that comes or goes in sessions/ may be what it waits for.
func (l leftover) waitsForFolder() bool { return l.failed || l.has(CauseArtifactStuck) }

func (l leftover) has(causes ...Cause) bool {
	return slices.ContainsFunc(l.pending, func(p Pending) bool { return slices.Contains(causes, p.Cause) })
}

// stuck are the ids that have an artifact which could not be removed.
func (l leftover) stuck() map[string]bool {
	ids := map[string]bool{}
	for _, p := range l.pending {
		if p.Cause == CauseArtifactStuck {
			ids[p.SessionID] = true
		}
	}
	return ids
}

func (l leftover) equal(other leftover) bool {
	return l.failed == other.failed && slices.Equal(l.pending, other.pending) && slices.Equal(l.unreadable, other.unreadable)
}

// agenda decides when one home is worked through next. It reads no clock and no file.
type agenda struct {
	known  glance // what had been seen when the last pass began, as far as it is still there
	left   leftover
	ended  time.Time     // when the last pass ended; zero before the first one
	pause  time.Duration // from then to the next one that nothing asks for
	passAt time.Time     // when that is, or an earlier one that the least gap puts off
}

// due tells whether a pass is to be made now, for what is seen or because its time has come. What has to wait for the least
// gap is entered.
func (a *agenda) due(seen glance, now time.Time) bool {
	switch {
	case !seen.there:
		a.known = glance{} // whatever comes in its place is new
		return false
	case !a.known.there, !now.Before(a.passAt), !maps.Equal(a.known.manifests, seen.manifests):
		return true
	case a.mayHaveMended(seen):
		soonest := a.ended.Add(leastGap)
		if soonest.Before(a.passAt) {
			a.passAt = soonest
		}
		return !now.Before(soonest)
	}
	return false
}

// mayHaveMended tells whether something other than a manifest has changed, so that what is pending may go now, or what nobody
// could ask about can be asked.
func (a *agenda) mayHaveMended(seen glance) bool {
	if seen.store.there && !a.known.store.there {
		return true
	}
	if a.left.waitsForStore() && (seen.store != a.known.store || seen.wal != a.known.wal) {
		return true
	}
	return a.left.waitsForFolder() && (seen.folder != a.known.folder || seen.folderAt != a.known.folderAt)
}

// passed enters a pass that has just ended, with what was seen before it and after it. A manifest that it has written anew
// counts as not known: one more pass finds nothing to do with it, and misses nothing that somebody else wrote meanwhile. The
// timer starts anew where something has changed.
func (a *agenda) passed(before, after glance, left leftover, now time.Time) {
	timed := !a.ended.IsZero() && !now.Before(a.passAt)
	switch {
	case !left.mayGo():
		a.pause = longestPause
	case !left.equal(a.left) || a.ended.IsZero():
		a.pause = firstPause
	case timed:
		a.pause = min(2*a.pause, longestPause)
	}
	known := after
	known.there = before.there
	if !before.store.there {
		known.store = stamp{} // one that came during the pass was not asked
	}
	known.manifests = maps.Clone(before.manifests)
	maps.DeleteFunc(known.manifests, func(name string, _ stamp) bool { return !after.manifests[name].there })
	a.known, a.left, a.ended = known, left, now
	a.passAt = now.Add(a.pause - rand.N(a.pause/4)) // never twice the same, so that sidecars do not march in step
}

// listensToStore tells whether an event of the store would change when the next pass is.
func (a *agenda) listensToStore() bool {
	return (a.left.waitsForStore() || !a.known.store.there) && a.passAt.After(a.ended.Add(leastGap))
}

package cleanup

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var start = time.Unix(1_800_000_000, 0)

// seenWith is a home with a store and these manifests.
func seenWith(manifests ...string) glance {
	g := glance{there: true, folder: "/h/sessions", folderAt: stamp{there: true}, store: stamp{there: true}, manifests: map[string]stamp{}}
	for _, name := range manifests {
		g.manifests[name] = stamp{there: true, size: 5}
	}
	return g
}

func pendingFor(causes ...Cause) leftover {
	var l leftover
	for _, cause := range causes {
		l.pending = append(l.pending, Pending{"V", cause})
	}
	return l
}

// after is an agenda whose first pass saw this and left that.
func afterPass(seen glance, left leftover) agenda {
	a := agenda{}
	a.passed(seen, seen, left, start)
	return a
}

func TestWhatMakesAPassDue(t *testing.T) {
	storeWritten, walWritten, folderChanged := seenWith(), seenWith(), seenWith()
	storeWritten.store.modified, walWritten.wal.modified, folderChanged.folderAt.modified = 1, 1, 1
	elsewhere, noStore, written := seenWith(), seenWith(), seenWith("m")
	elsewhere.folder, noStore.store = "/h/other", stamp{}
	written.manifests["m"] = stamp{there: true, size: 6}
	cases := map[string]struct {
		before, seen glance
		left         leftover
		at           time.Duration // after the pass; 0: at once
		want         bool
	}{
		"nothing":                                {before: seenWith(), seen: seenWith()},
		"a manifest comes":                       {before: seenWith(), seen: seenWith("m"), want: true},
		"a known one":                            {before: seenWith("m"), seen: seenWith("m")},
		"a known one is written":                 {before: seenWith("m"), seen: written, want: true},
		"somebody else settled it":               {before: seenWith("m"), seen: seenWith(), want: true},
		"the home went":                          {before: seenWith("m"), seen: glance{}},
		"the store is written, nobody waits":     {before: seenWith(), seen: storeWritten, at: time.Minute},
		"the log is written, nobody waits":       {before: seenWith(), seen: walWritten, at: time.Minute},
		"nobody waits for the store":             {before: seenWith(), seen: walWritten, left: pendingFor(CauseUnsafeID), at: time.Minute},
		"a live session, the log, too soon":      {before: seenWith(), seen: walWritten, left: pendingFor(CauseSessionLive)},
		"a live session, the log, after the gap": {before: seenWith(), seen: walWritten, left: pendingFor(CauseSessionLive), at: leastGap, want: true},
		"a failed run, the store":                {before: seenWith(), seen: storeWritten, left: leftover{failed: true}, at: leastGap, want: true},
		"the store comes":                        {before: noStore, seen: seenWith(), at: leastGap, want: true},
		"the folder changes, nobody waits":       {before: seenWith(), seen: folderChanged, at: time.Minute},
		"a live session, the folder":             {before: seenWith(), seen: folderChanged, left: pendingFor(CauseSessionLive), at: 100 * time.Millisecond},
		"a stuck file, the folder, too soon":     {before: seenWith(), seen: folderChanged, left: pendingFor(CauseArtifactStuck)},
		"a stuck file, the folder":               {before: seenWith(), seen: folderChanged, left: pendingFor(CauseArtifactStuck), at: leastGap, want: true},
		"a failed run, another folder":           {before: seenWith(), seen: elsewhere, left: leftover{failed: true}, at: leastGap, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := afterPass(c.before, c.left)
			a.passAt = start.Add(time.Hour) // what the timer does is shown below
			now := start.Add(c.at)
			assert.Equal(t, c.want, a.due(c.seen, now))
			if !c.want && c.at == 0 && a.mayHaveMended(c.seen) {
				assert.Equal(t, start.Add(leastGap), a.passAt, "it is not forgotten")
			}
		})
	}
	t.Run("the home comes again", func(t *testing.T) {
		a := afterPass(seenWith("m"), leftover{})
		assert.False(t, a.due(glance{}, start))
		assert.True(t, a.due(seenWith("m"), start))
	})
}

// What is pending is tried after a second, then after twice as long each time, up to five minutes; never later than that, and
// never at the same instant as another sidecar.
func TestTheTimer(t *testing.T) {
	left := pendingFor(CauseMediaFailed)
	a := afterPass(seenWith(), left)
	now, want := start, firstPause
	pauses := map[time.Duration]bool{}
	for range 20 {
		pause := a.passAt.Sub(now)
		pauses[pause] = true
		assert.LessOrEqual(t, pause, want)
		assert.Greater(t, pause, want*3/4-1)
		assert.False(t, a.due(seenWith(), a.passAt.Add(-1)))
		assert.True(t, a.due(seenWith(), a.passAt))
		now = a.passAt
		a.passed(seenWith(), seenWith(), left, now)
		want = min(2*want, longestPause)
	}
	assert.Equal(t, longestPause, want)
	assert.Greater(t, len(pauses), 15, "they differ")
	a.passed(seenWith(), seenWith(), pendingFor(CauseArtifactStuck), now)
	assert.LessOrEqual(t, a.passAt.Sub(now), firstPause, "something has changed, so it begins anew")
	for name, l := range map[string]leftover{"nothing": {}, "what never goes": pendingFor(CauseUnsafeID)} {
		a := afterPass(seenWith(), l)
		assert.Greater(t, a.passAt.Sub(start), longestPause/2, "%s needs no hurry", name)
		assert.LessOrEqual(t, a.passAt.Sub(start), longestPause, "%s: events may be lost", name)
	}
	for name, l := range map[string]leftover{
		"an unreadable manifest": {unreadable: []string{"m"}}, "a run that failed": leftoverOf(Report{}, errors.New("no lock")),
		"a store that cannot be asked": leftoverOf(Report{Failed: errors.New("damaged")}, nil),
		"some of both":                 pendingFor(CauseUnsafeID, CauseSessionLive),
	} {
		a := afterPass(seenWith(), l)
		assert.LessOrEqual(t, a.passAt.Sub(start), firstPause, name)
	}
}

// A pass writes in the home itself. What it has done is no news, and what others did meanwhile is.
func TestWhatAPassDoesItself(t *testing.T) {
	a := agenda{}
	before := seenWith("settled", "rewritten", "stays")
	after := seenWith("rewritten", "stays", "came meanwhile")
	after.manifests["rewritten"] = stamp{there: true, size: 4}
	after.folderAt.modified, after.wal.modified = 7, 7
	a.passed(before, after, pendingFor(CauseSessionLive, CauseArtifactStuck), start)
	assert.Equal(t, map[string]stamp{"rewritten": {there: true, size: 5}, "stays": {there: true, size: 5}}, a.known.manifests)
	assert.True(t, a.due(after, start), "one more, for what came and what may have been written by somebody else")
	a.passed(after, after, pendingFor(CauseSessionLive, CauseArtifactStuck), start)
	assert.False(t, a.due(after, start))
	assert.False(t, a.mayHaveMended(after))

	noStore := seenWith()
	noStore.store = stamp{}
	a.passed(noStore, seenWith(), leftover{}, start)
	assert.True(t, a.mayHaveMended(seenWith()), "a store that came during the pass was not asked")
}

func TestWhatTheStoreIsListenedTo(t *testing.T) {
	assert.False(t, new(afterPass(seenWith(), leftover{})).listensToStore(), "nobody waits for it")
	a := afterPass(seenWith(), pendingFor(CauseSessionLive))
	assert.False(t, a.listensToStore(), "the timer is sooner")
	a.passAt = start.Add(time.Minute)
	assert.True(t, a.listensToStore())
	written := seenWith()
	written.wal.modified = 1
	assert.False(t, a.due(written, start))
	assert.False(t, a.listensToStore(), "the next pass is settled by now")
	noStore := seenWith()
	noStore.store = stamp{}
	assert.True(t, new(afterPass(noStore, leftover{})).listensToStore(), "it may come")
}

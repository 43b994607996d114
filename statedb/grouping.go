package statedb

import (
	"cmp"
	"maps"
	"slices"
)

// grouping is how the rows of a store make up its conversations: every row is a segment of exactly one of them, or goes along with one, or
// both. Which rows those are is decided as a delete decides it, so each path has its own way to make them: legacyGrouping and
// canonicalGrouping.
type grouping struct {
	conversations []group
	takes         map[*session][]*session // what goes along with a row
	takers        map[*session][]*session // and back
}

// group is the rows that make up one conversation, but for what goes along with them.
type group struct {
	segments []*session // oldest first
	others   []*session // what goes too and is a segment of another conversation
}

// newGrouping has no conversation yet.
func newGrouping(takes map[*session][]*session) *grouping {
	f := &grouping{takes: takes, takers: map[*session][]*session{}}
	for row, taken := range takes {
		for _, other := range taken {
			f.takers[other] = append(f.takers[other], row)
		}
	}
	return f
}

// members are the rows of a conversation and all that goes along with them, directly or not, each once; the segments come
// first.
func (f *grouping) members(k group) []*session {
	return f.reach(map[*session]bool{}, slices.Concat(k.segments, k.others))
}

// reach adds the rows that are not in a set yet, and all that goes along with them and is not, to the set, and gives them.
func (f *grouping) reach(set map[*session]bool, rows []*session) []*session {
	var added []*session
	add := func(rows []*session) {
		for _, row := range rows {
			if !set[row] {
				set[row] = true
				added = append(added, row)
			}
		}
	}
	add(rows)
	for i := 0; i < len(added); i++ {
		add(f.takes[added[i]])
	}
	return added
}

// spread raises every row's activity to the latest of what goes along with it, however far away, and makes it match where one
// of those does.
func (f *grouping) spread(activity map[*session]float64, matches map[*session]bool) {
	var taken []*session
	for row := range f.takers {
		if _, known := activity[row]; known {
			taken = append(taken, row)
		}
	}
	// The latest first: then each row is raised once, and circles end.
	slices.SortFunc(taken, func(a, b *session) int { return cmp.Compare(activity[b], activity[a]) })
	for _, row := range taken {
		at := activity[row]
		f.climb(row, func(taker *session) bool { return raise(activity, taker, at) })
	}
	for _, row := range slices.Collect(maps.Keys(matches)) { // more come meanwhile
		f.climb(row, func(taker *session) bool {
			known := matches[taker]
			if !known {
				matches[taker] = true
			}
			return !known
		})
	}
}

// climb goes from a row to those that it goes along with, and on from each for which use is true.
func (f *grouping) climb(row *session, use func(taker *session) bool) {
	for queue := []*session{row}; len(queue) > 0; queue = queue[1:] {
		for _, taker := range f.takers[queue[0]] {
			if use(taker) {
				queue = append(queue, taker)
			}
		}
	}
}

// raise tells whether it changed anything.
func raise(activity map[*session]float64, row *session, at float64) bool {
	known, ok := activity[row]
	if ok && at <= known {
		return false
	}
	activity[row] = at
	return true
}

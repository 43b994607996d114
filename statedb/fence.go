package statedb

import (
	"context"
	"slices"
)

// The fence for others (contract 5d): what the tombstones of a store say of an id, for whoever is about to create a session
// under it. The answers follow the store alone, so every process agrees and a restart changes nothing. A store without sessions is
// ErrUnsupported to all of them; one without state_meta has no fences.

// reclaimAtOnce is how many fences one transaction removes: few enough that nobody waits long for the write lock.
const reclaimAtOnce = 1000

// FenceState is what stands in the way of a new session under an id.
type FenceState struct {
	Live      bool     // there is a session row
	Retired   bool     // there is a tombstone, however old
	Expires   bool     // which reclaim_fences removes some day
	RetiredAt *float64 // in seconds since 1970; nil where nobody knows
}

// SessionFence tells what stands in the way of a new session under an id, from one snapshot (contract 5d, session_fence).
func SessionFence(ctx context.Context, path, sessionID string) (*FenceState, error) {
	var state *FenceState
	err := lookAtFences(ctx, path, "look for the session and its tombstone", func(c *conn, s *schema) error {
		live, err := c.isLive(ctx, sessionID)
		if err != nil {
			return err
		}
		records, err := c.sessionFences(ctx, s, []string{sessionID})
		if err != nil {
			return err
		}
		record, retired := records[sessionID]
		t := readTombstone(record)
		state = &FenceState{Live: live, Retired: retired, Expires: t.expires, RetiredAt: t.retiredAt}
		return nil
	})
	return state, err
}

// Generations are the ids that a conversation may have, one after the other. An id that somebody tries again exactly is
// pinned; one that may not be taken though nothing is retired is spent.
type Generations struct{ Candidates, Pinned, Spent []string }

// first is the first candidate that may be taken.
func (g Generations) first(retired func(id string) bool) (n int, found bool) {
	pinned, spent := setOf(g.Pinned), setOf(g.Spent)
	for n, id := range g.Candidates {
		if retired(id) && pinned[id] || !retired(id) && !spent[id] {
			return n, true
		}
	}
	return 0, false
}

// FirstGeneration gives the place of the first candidate that may be taken, from one snapshot (contract 5d, first_generation). found is
// false where none may.
func FirstGeneration(ctx context.Context, path string, g Generations) (n int, found bool, err error) {
	err = lookAtFences(ctx, path, "look for the candidates' tombstones", func(c *conn, s *schema) error {
		records, err := c.sessionFences(ctx, s, g.Candidates)
		if err != nil {
			return err
		}
		n, found = g.first(func(id string) bool { _, retired := records[id]; return retired })
		return nil
	})
	return n, found, err
}

// ExpiringFences are those of the ids whose own tombstone expires, each once, in the order asked (contract 5d, expiring_fences).
func ExpiringFences(ctx context.Context, path string, ids []string) ([]string, error) {
	var expiring []string
	err := lookAtFences(ctx, path, "look for the ids' tombstones", func(c *conn, s *schema) error {
		records, err := c.sessionFences(ctx, s, ids)
		expiring = slices.DeleteFunc(distinct(ids), func(id string) bool { return !readTombstone(records[id]).expires })
		return err
	})
	return expiring, err
}

// keptForGood is what the records of the passed ids have to become so that no passed fence expires. Where one of the ids has no
// fence, none is kept.
func keptForGood(passed []string, records map[string]string) (changed map[string]string, kept bool) {
	changed = map[string]string{}
	for _, id := range passed {
		record, fenced := records[id]
		if !fenced {
			return nil, false
		}
		if value, changes := permanent(record); changes {
			changed[id] = value
		}
	}
	return changed, true
}

// KeepPassedFences makes the fences of the passed ids permanent (contract 5d, keep_passed_fences): all of them in one transaction, or
// none where one has no fence (any more). A malformed fence is there and stays byte for byte. The write lock is taken only where something has
// to change.
//
// An Agent does this inside the write that binds the successor, so that no reclaim comes in between. A call of its own cannot
// be part of that write: who calls it has to bind the successor after it, and only where it answers true.
func KeepPassedFences(ctx context.Context, path string, passed []string) (kept bool, err error) {
	var changes map[string]string
	err = lookAtFences(ctx, path, "look for the passed fences", func(c *conn, s *schema) error {
		records, err := c.sessionFences(ctx, s, passed)
		changes, kept = keptForGood(passed, records)
		return err
	})
	if err != nil {
		return false, err
	}
	if len(changes) == 0 {
		return kept, nil
	}
	return keepPassed(ctx, path, passed)
}

// keepPassed decides anew under the write lock: a fence may have gone since the look.
func keepPassed(ctx context.Context, path string, passed []string) (kept bool, err error) {
	err = changeFences(ctx, path, "keep the passed fences", func(c *conn, s *schema) error {
		records, err := c.sessionFences(ctx, s, passed)
		if err != nil {
			return err
		}
		changes, all := keptForGood(passed, records)
		kept = all
		return c.replaceSessionFences(ctx, changes)
	})
	return kept && err == nil, err
}

// ReclaimFences removes the fences of sessions and of routes that hold no longer, and tells how many (contract 5d, reclaim_fences). It works in short
// transactions with pauses for other writers; one that fails leaves the rest for the next time. The write lock is taken only
// where there is something to remove.
func ReclaimFences(ctx context.Context, path string) (reclaimed int, err error) {
	now := now()
	var keys []string
	err = lookAtFences(ctx, path, "look for fences that have run out", func(c *conn, s *schema) (err error) {
		keys = nil
		for _, prefix := range []string{retiredSessionPrefix, retiredRoutePrefix} {
			aged, err := c.agedOutFences(ctx, s, prefix, now)
			if err != nil {
				return err
			}
			keys = append(keys, aged...)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(keys, reclaimAtOnce) {
		if reclaimed > 0 {
			if err := pause(ctx); err != nil {
				return reclaimed, err
			}
		}
		n, err := reclaim(ctx, path, chunk, now)
		if err != nil {
			return reclaimed, err
		}
		reclaimed += n
	}
	return reclaimed, nil
}

// reclaim decides anew under the write lock: a fence may have been refreshed, or kept for good, since the look.
func reclaim(ctx context.Context, path string, keys []string, now float64) (reclaimed int, err error) {
	err = changeFences(ctx, path, "remove fences that have run out", func(c *conn, s *schema) error {
		records, err := c.records(ctx, s, keys)
		if err != nil {
			return err
		}
		gone := slices.DeleteFunc(sortedKeys(records), func(key string) bool { return !readTombstone(records[key]).agedOut(now) })
		reclaimed = len(gone)
		return c.removeRecords(ctx, gone)
	})
	return reclaimed, err
}

// lookAtFences reads from one snapshot of a store that has sessions.
func lookAtFences(ctx context.Context, path, doing string, look func(*conn, *schema) error) error {
	return read(ctx, path, doing, func(c *conn) error {
		s, err := c.schemaWithSessions(ctx)
		if err != nil {
			return err
		}
		return look(c, s)
	})
}

// changeFences changes such a store in one write transaction.
func changeFences(ctx context.Context, path, doing string, change func(*conn, *schema) error) error {
	return write(ctx, path, Patience, doing, func(c *conn) error {
		s, err := c.schemaWithSessions(ctx)
		if err != nil {
			return err
		}
		return change(c, s)
	})
}

// schemaWithSessions is ErrUnsupported for a store without sessions.
func (c *conn) schemaWithSessions(ctx context.Context) (*schema, error) {
	s, err := c.readSchema(ctx)
	if err == nil && !s.has("sessions", "id") {
		err = unsupported("the store has no table sessions with id")
	}
	return s, err
}

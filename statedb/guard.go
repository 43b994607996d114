package statedb

import (
	"strconv"
	"strings"
)

// GuardKind says what kind of mark protects a session (contract 4, active_turn).
type GuardKind string

// The kinds that a store without the runtime ledger has.
const (
	GuardTurnLease       GuardKind = "turn_lease"
	GuardCompressionLock GuardKind = "compression_lock"
)

// Guard is a turn lease or a compression lock that protects a session.
type Guard struct {
	SessionID string // the session that it protects
	Kind      GuardKind
	Holder    string
	ExpiresAt *float64 // seconds since 1970; nil where the store holds no finite number: it never runs out

	key     string // what the store keeps it under: a session id, or a conversation's root
	expires any    // as the store holds it
}

// stale tells whether a guard protects nothing any more: it has run out, or its holder is provably dead (contract 5c).
// now is in seconds since 1970. An expiry that is no number never runs out.
func (g *Guard) stale(now float64, dead func(holder string) bool) bool {
	if v, ok := g.expires.(float64); ok && v <= now { // an infinite one too
		return true
	}
	if expires, ok := finite(g.expires); ok && expires <= now {
		return true
	}
	return dead(g.Holder)
}

// judged are the guards of a plan.
type judged struct {
	live  []Guard
	stale []Guard
}

// judge tells the guards that protect their session from those that protect nothing any more.
func judge(guards []Guard, now float64, dead func(holder string) bool) (j judged) {
	for _, g := range guards {
		if g.stale(now, dead) {
			j.stale = append(j.stale, g)
		} else {
			j.live = append(j.live, g)
		}
	}
	return j
}

// holderPID reads the pid=<n> token of a holder, and its pidns=<inode> token where it has one. Tokens stand between
// colons or at an end. A holder with no pid, or with two, names no process.
func holderPID(holder string) (pid int, namespace string, ok bool) {
	for token := range strings.SplitSeq(holder, ":") {
		if text, found := strings.CutPrefix(token, "pid="); found {
			n, err := strconv.ParseUint(text, 10, 31) // no sign
			if err != nil || n == 0 || ok {
				return 0, "", false
			}
			pid, ok = int(n), true
		}
		if text, found := strings.CutPrefix(token, "pidns="); found {
			namespace = text
		}
	}
	return pid, namespace, ok
}

package statedb

// GuardKind says what kind of mark protects a session (contract 4, active_turn).
type GuardKind string

// The kinds of guards; the last two are of the runtime ledger (contract 5b.3).
const (
	GuardTurnLease       GuardKind = "turn_lease"
	GuardCompressionLock GuardKind = "compression_lock"
	GuardAdmission       GuardKind = "admission" // a request that is not settled; its holder is the admission's id
	GuardWorker          GuardKind = "worker"    // an execution that has not ended; its holder is the execution's id
)

// Guard is a turn lease or a compression lock that protects a session, or a request or worker of it that is not settled.
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

// held are live guards by what the store keeps them under. One lease protects every session whose conversation's root it
// names, but a Guard tells one of them only.
type held map[GuardKind]map[string]Guard

func heldBy(live []Guard) held {
	h := held{GuardTurnLease: {}, GuardCompressionLock: {}}
	for _, g := range live {
		h[g.Kind][g.key] = g
	}
	return h
}

// of is the guard that protects an id, if one does. roots are the ids' lease roots.
func (h held) of(id string, roots map[string]string) (guard Guard, protected bool) {
	guard, protected = h[GuardCompressionLock][id]
	if !protected {
		guard, protected = h[GuardTurnLease][roots[id]]
	}
	guard.SessionID = id
	return guard, protected
}

// inUseBy is ErrActiveTurn for a guard.
func inUseBy(g Guard) error {
	return &Error{Kind: ErrActiveTurn, Guard: &g, Detail: "session " + g.SessionID + " is in use"}
}

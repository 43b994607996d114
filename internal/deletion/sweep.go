package deletion

import (
	"context"
	"errors"
	"slices"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/jitter"
	"session-sidecar/statedb"
)

// SweepRequest is housekeeping in one home, as a caller asked for it.
type SweepRequest struct {
	Request             // its SessionID and what it says of a conversation are not looked at
	SessionIDs []string // exactly what may go
}

// Sweep is what a sweep has done.
type Sweep struct {
	Swept        []string // in the order asked for, each once
	Skipped      []statedb.Skipped
	Transactions int // those that were committed
	Path         statedb.Path
	// Cleanup is of the whole home, after the last of them; nil where there was none.
	Cleanup *cleanup.Report
	// LongestHeld is for how long other writers had to wait for one of them at most.
	LongestHeld time.Duration
}

// Sweep retires exactly the ids named, many in one transaction, and leaves those that are in use (contract 5d,
// sweep_sessions). Files follow as in Delete. An error means that nothing was removed; once something was, what was not
// reached is skipped with the error.
func (d *Deleter) Sweep(ctx context.Context, request SweepRequest) (*Sweep, error) {
	request.sweeps = true
	ids := distinct(request.SessionIDs)
	s := &sweeper{deleter: d, request: request.Request, swept: map[string]bool{}, skipped: map[string]error{}, budget: firstBudget}
	var units []statedb.Unit
	err := d.inHome(ctx, request.Request, func(h lockedHome) error {
		agent, err := statedb.LookAtAgent(request.AgentDir)
		if err == nil {
			units, err = statedb.Sweepable(ctx, h.store, ids, agent)
		}
		if err == nil {
			units, err = s.sweepFor(ctx, h, units)
		}
		return err
	})
	for err == nil && len(units) > 0 {
		// A user's delete, in whatever process, comes first.
		if err = jitter.Pause(ctx, shareHome/2, shareHome); err == nil {
			err = d.inHome(ctx, request.Request, func(h lockedHome) (err error) {
				units, err = s.sweepFor(ctx, h, units)
				return err
			})
		}
	}
	if err != nil && s.result.Transactions == 0 {
		return nil, err
	}
	for _, id := range ids {
		switch why := s.skipped[id]; {
		case s.swept[id]:
			s.result.Swept = append(s.result.Swept, id)
		case why != nil:
			s.result.Skipped = append(s.result.Skipped, statedb.Skipped{SessionID: id, Why: why})
		default:
			s.result.Skipped = append(s.result.Skipped, statedb.Skipped{SessionID: id, Why: err})
		}
	}
	return &s.result, nil
}

// How much one transaction of a sweep takes on, in sessions and messages. The write lock is to be held for a fraction of a
// second, whatever the machine: each transaction tells how much the next one may do.
const (
	firstBudget = 1000
	mostBudget  = 5000
	leastBudget = 200 // below this, what every transaction costs would be most of it
	heldShortly = 200 * time.Millisecond
	heldLong    = 600 * time.Millisecond
)

// How long a sweep holds the home's locks at a time, and for how long it leaves them to others in between.
const (
	holdHome  = 2 * time.Second
	shareHome = 50 * time.Millisecond
)

// sweeper is one sweep under way.
type sweeper struct {
	deleter *Deleter
	request Request
	budget  int
	atOnce  int // the most units at once after one could not be retired; 0: as many as the budget allows
	swept   map[string]bool
	skipped map[string]error
	result  Sweep
}

// letWrite is a pause between two transactions that a writer finds who waits inside SQLite: its busy handler sleeps for up to a
// tenth of a second between two tries.
const letWrite = 120 * time.Millisecond

// sweepFor goes on until the home's locks have been held for long enough, and gives what is left. Each transaction takes as
// many units as the budget allows, one at least, since none is ever split. Where something in it cannot be retired, fewer are
// tried, down to that one alone, so that it stops nobody else.
func (s *sweeper) sweepFor(ctx context.Context, h lockedHome, units []statedb.Unit) (left []statedb.Unit, err error) {
	begun := time.Now()
	for paused := begun; len(units) > 0 && time.Since(begun) < holdHome; {
		n, work := 1, units[0].Work
		for n < len(units) && work+units[n].Work <= s.budget && (s.atOnce == 0 || n < s.atOnce) {
			work += units[n].Work
			n++
		}
		err := s.sweepAtOnce(ctx, h, units[:n])
		switch {
		case errors.Is(err, statedb.ErrUnsupported) && n > 1:
			s.atOnce = n / 2
		case errors.Is(err, statedb.ErrUnsupported):
			for _, id := range units[0].SessionIDs {
				s.skipped[id] = err
			}
			units = units[1:]
		case err != nil:
			return nil, err
		default:
			units = units[n:]
			s.atOnce *= 2
		}
		if len(units) > 0 && time.Since(paused) > 2*letWrite {
			if err := jitter.Pause(ctx, letWrite, letWrite/4); err != nil {
				return nil, err
			}
			paused = time.Now()
		}
	}
	return units, nil
}

// sweepAtOnce is one transaction, with its files.
func (s *sweeper) sweepAtOnce(ctx context.Context, h lockedHome, units []statedb.Unit) error {
	var ids []string
	for _, u := range units {
		ids = append(ids, u.SessionIDs...)
	}
	var left []statedb.Skipped
	outcome, err := s.deleter.transact(ctx, h, s.request, func(tx *statedb.Tx, wanted statedb.Request) (plan *statedb.Plan, err error) {
		plan, left, err = tx.PlanSweep(ctx, statedb.SweepRequest{SessionIDs: ids, Circumstances: wanted.Circumstances})
		return plan, err
	})
	if err != nil {
		return err
	}
	for _, one := range left {
		s.skipped[one.SessionID] = one.Why
	}
	if outcome == nil {
		return nil
	}
	s.deleter.finish(ctx, h, outcome, s.request.durations())
	s.result.Path = outcome.Plan.Path
	for _, id := range outcome.Plan.IDs() {
		s.swept[id] = true
	}
	s.result.Transactions++
	s.result.Cleanup = &outcome.Cleanup
	s.result.LongestHeld = max(s.result.LongestHeld, outcome.LockHeld)
	switch {
	case outcome.LockHeld < heldShortly:
		s.budget = min(2*s.budget, mostBudget)
	case outcome.LockHeld > heldLong:
		s.budget = max(s.budget/2, leastBudget)
	}
	return nil
}

// distinct gives each of the ids once, in their order.
func distinct(ids []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		defer func() { seen[id] = true }()
		return seen[id]
	})
}

package statedb

import (
	"context"
	"errors"

	"session-sidecar/internal/faultpoint"
)

// The plan of a sweep (contract 5d, sweep_sessions). What goes is retired as in a delete.

// SweepRequest is one transaction of a sweep.
type SweepRequest struct {
	SessionIDs []string // exactly what may go
	Circumstances
}

// Sweepable tells whether a store can be swept, and which of the ids stand or fall together, in their order. It is a look
// without the write lock; PlanSweep asks everything again. A store without the runtime ledger is ErrUnsupported.
func Sweepable(ctx context.Context, path string, ids []string, agent Agent) (units []Unit, err error) {
	err = read(ctx, path, "look at what is to be swept", func(c *conn) error {
		s, err := c.canonicalSchema(ctx, agent)
		if err != nil {
			return err
		}
		policies, _, err := c.policiesNaming(ctx, ids)
		if err != nil {
			return err
		}
		messages, err := c.sizes(ctx, s, ids)
		if err != nil {
			return err
		}
		ledger, err := c.ledgerSizes(ctx, ids)
		units = unitsOf(ids, policies)
		weigh(units, messages, ledger)
		return err
	})
	return units, err
}

func (c *conn) canonicalSchema(ctx context.Context, agent Agent) (*schema, error) {
	s, err := c.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	path, err := choosePath(s, agent)
	if err != nil {
		return nil, err
	}
	if path != PathCanonical {
		return nil, onPath(path, unsupported("a sweep needs the runtime ledger, on the path %s there are no tombstones", path))
	}
	return s, s.refuseOtherColumns()
}

// PlanSweep decides, under the write lock, which of the ids go and why the others do not. A plan without targets has nothing
// to remove. Unlike Plan it takes no delegates and no chain, and a busy id never stops the others. What cannot be retired
// does, as ErrUnsupported, here or in Remove: the caller tries fewer at once.
func (t *Tx) PlanSweep(ctx context.Context, request SweepRequest) (*Plan, []Skipped, error) {
	t.path = PathCanonical
	plan, skipped, err := t.conn.planSweep(ctx, request)
	if err != nil {
		return nil, nil, onPath(PathCanonical, err)
	}
	faultpoint.Hit(faultpoint.PlanDecided)
	return plan, skipped, nil
}

func (c *conn) planSweep(ctx context.Context, request SweepRequest) (*Plan, []Skipped, error) {
	ids := request.SessionIDs
	s, err := c.canonicalSchema(ctx, request.Agent)
	if errors.Is(err, ErrUnsupported) { // the store has become another one meanwhile, for all of them
		var skipped []Skipped
		for _, id := range ids {
			skipped = append(skipped, Skipped{id, err})
		}
		return &Plan{}, skipped, nil
	}
	if err != nil {
		return nil, nil, err
	}
	policies, unreadable, err := c.policiesNaming(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	units := unitsOf(ids, policies)
	b, err := c.busy(ctx, s, ids, unreadable)
	if err != nil {
		return nil, nil, err
	}
	plan := &Plan{Path: PathCanonical, schema: s}
	rest, skipped := skipWhole(units, b.why)
	for _, id := range rest {
		plan.Targets = append(plan.Targets, Target{ID: id, Why: WhyRequested})
	}
	if len(rest) == 0 {
		return plan, skipped, nil
	}
	if err := c.refuseForeignRows(ctx, rest, false); err != nil {
		return nil, nil, err
	}
	must := derived(ids, b.sources, policies)
	plan.retirement = newRetirement(request.Circumstances, rest, b.chats(rest), func(id string) bool { return !must[id] })
	if plan.retirement.spilled, err = c.spilledBy(ctx, s, rest, request.Spilled); err != nil {
		return nil, nil, err
	}
	plan.stale = b.staleOf(rest)
	plan.StaleIndexes, err = c.indexesToSetAside(ctx, s)
	return plan, skipped, err
}

// business is what keeps some of the ids from being swept.
type business struct {
	why     map[string]error  // an id -> what it is busy with
	sources map[string]string // of the rows that are there
	graph   *graph
	roots   map[string]string // under which each id's turn lease is kept
	stale   []Guard
}

// chats are those that some of the ids belong to.
func (b *business) chats(ids []string) []string { return b.graph.chatIDs(ids) }

// staleOf lists the stale guards of some of the ids: those of others stay.
func (b *business) staleOf(ids []string) (stale []Guard) {
	held := heldBy(b.stale)
	found := map[GuardKind]map[string]bool{GuardTurnLease: {}, GuardCompressionLock: {}}
	for _, id := range ids {
		found[GuardCompressionLock][id], found[GuardTurnLease][b.roots[id]] = true, true
	}
	for _, kind := range sortedKeys(held) {
		for _, key := range sortedKeys(held[kind]) {
			if found[kind][key] {
				stale = append(stale, held[kind][key])
			}
		}
	}
	return stale
}

// busy finds the ids that a guard protects, that have an unsettled request or worker, or whose policy cannot be read.
func (c *conn) busy(ctx context.Context, s *schema, ids []string, unreadable map[string]bool) (*business, error) {
	r := newLineageReader(c, s, asSQLite)
	if err := r.ancestors(ctx, ids); err != nil {
		return nil, err
	}
	guards, err := c.guardsOf(ctx, ids, r.graph)
	if err != nil {
		return nil, err
	}
	unsettled, err := c.unsettled(ctx, ids)
	if err != nil {
		return nil, err
	}
	b := &business{why: map[string]error{}, sources: map[string]string{}, graph: r.graph, roots: r.graph.leaseRoots(ids), stale: guards.stale}
	inUse := map[string]Guard{}
	for _, g := range unsettled {
		inUse[g.SessionID] = g
	}
	held := heldBy(guards.live)
	for _, id := range ids {
		row := r.graph.rows[id]
		if row != nil && row.source != nil {
			b.sources[id] = *row.source
		}
		if unreadable[id] || (row != nil && row.chatID != nil && unreadable[*row.chatID]) {
			b.why[id] = &Error{Kind: ErrReceiptInvalid, Detail: "its local policy cannot be read", Path: PathCanonical}
		}
		if g, unsettled := inUse[id]; unsettled {
			b.why[id] = inUseBy(g)
		}
		if g, protected := held.of(id, b.roots); protected {
			b.why[id] = inUseBy(g)
		}
	}
	return b, nil
}

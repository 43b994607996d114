package statedb

import (
	"context"
	"slices"
)

// This file makes the plan of the legacy path (contract 5).

// planLegacy decides in the order of contract 4, step 3: the set, then foreign references, the downgrade fence, the guards,
// and the indexes.
func (c *conn) planLegacy(ctx context.Context, s *schema, request Request, purpose planPurpose) (*Plan, error) {
	lineage, err := c.readLineage(ctx, s, asPython)
	if err != nil {
		return nil, err
	}
	targets, err := lineage.resolveLegacy(ctx, request)
	if err != nil {
		return nil, err
	}
	plan := newPlan(PathLegacy, s, lineage.graph, request, targets)
	plan.Kept = lineage.graph.kept(targets)
	if purpose == toExport {
		return plan, nil
	}
	ids := plan.IDs()
	if plan.LeftBehind, err = c.leftBehind(ctx, s, ids); err != nil {
		return nil, err
	}
	family, err := lineage.family(ctx, ids)
	if err != nil {
		return nil, err
	}
	guards, err := c.guardsOf(ctx, ids, lineage.graph)
	if err != nil {
		return nil, err
	}
	plan.Guards, plan.stale = guards.live, guards.stale
	return plan, plan.refuse(
		func() error { return c.refuseForeignRows(ctx, ids, purpose == toPreview) },
		func() error { return c.refuseRuntimeHistory(ctx, s, family, lineage.graph.chatIDs(family)) },
		plan.refuseLiveGuards,
		func() (err error) { plan.StaleIndexes, err = c.indexesToSetAside(ctx, s); return err },
	)
}

// resolveLegacy reads what surrounds the request and decides the whole set. A whole conversation whose set does not hold the
// requested id is ErrLineageAmbiguous.
func (r *lineageReader) resolveLegacy(ctx context.Context, request Request) ([]Target, error) {
	start := request.SessionID
	if request.WholeConversation {
		if err := r.ancestors(ctx, []string{start}); err != nil {
			return nil, err
		}
		start = r.graph.firstSegment(start)
	}
	if err := r.surroundings(ctx, []string{start, request.SessionID}); err != nil {
		return nil, err
	}
	targets, err := r.graph.targets(ctx, start, request.SessionID, request.WithLineage || request.WholeConversation)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(targets, func(t Target) bool { return t.ID == request.SessionID }) {
		return nil, doesNotLeadTo(start, request.SessionID)
	}
	return targets, nil
}

// family grows the ids to their logical family, reading on until nothing new can join.
func (r *lineageReader) family(ctx context.Context, ids []string) ([]string, error) {
	for {
		family := sortedKeys(r.graph.logicalFamily(ids))
		missing := slices.DeleteFunc(slices.Clone(family), func(id string) bool { return r.expanded[id] })
		if len(missing) == 0 {
			return family, nil
		}
		if err := r.surroundings(ctx, missing); err != nil {
			return nil, err
		}
	}
}

package statedb

import (
	"context"
	"slices"
)

// planCanonical decides in the order of contract 4, step 3: the set, which the local policy is part of, then the guards and
// idleness, then what would stop the retirement.
func (c *conn) planCanonical(ctx context.Context, s *schema, request Request, purpose planPurpose) (*Plan, error) {
	if err := s.refuseOtherColumns(); err != nil {
		return nil, err
	}
	lineage, err := c.readLineage(ctx, s, asSQLite)
	if err != nil {
		return nil, err
	}
	targets, err := c.resolveCanonical(ctx, s, lineage, request)
	if err != nil {
		return nil, err
	}
	plan := newPlan(PathCanonical, s, lineage.graph, request, targets)
	plan.Kept = lineage.graph.keptChildren(targets)
	if purpose == toExport {
		return plan, nil
	}
	ids := plan.IDs()
	guards, err := c.guardsOf(ctx, ids, lineage.graph)
	if err != nil {
		return nil, err
	}
	unsettled, err := c.unsettled(ctx, ids)
	if err != nil {
		return nil, err
	}
	plan.Guards, plan.stale = slices.Concat(guards.live, unsettled), guards.stale
	if plan.LeftBehind, err = c.leftBehindCanonical(ctx, ids); err != nil {
		return nil, err
	}
	plan.retirement = newRetirement(request.Circumstances, ids, lineage.graph.chatIDs(ids), func(string) bool { return false })
	if plan.retirement.spilled, err = c.spilledBy(ctx, s, ids, request.Spilled); err != nil {
		return nil, err
	}
	return plan, plan.refuse(
		plan.refuseLiveGuards,
		func() error { return c.refuseForeignRows(ctx, ids, purpose == toPreview) },
		func() (err error) { plan.StaleIndexes, err = c.indexesToSetAside(ctx, s); return err },
		func() error {
			if purpose == toRemove {
				return nil // Remove will find out
			}
			return c.foresee(ctx, plan)
		},
	)
}

// resolveCanonical decides the whole set (contract 5b.1, 5b.2).
func (c *conn) resolveCanonical(ctx context.Context, s *schema, r *lineageReader, request Request) ([]Target, error) {
	root := request.SessionID
	if request.WholeConversation {
		if err := r.ancestors(ctx, []string{root}); err != nil {
			return nil, err
		}
		root = r.graph.leaseRoot(root)
	}
	members, err := c.localMembers(ctx, s, root)
	if err != nil {
		return nil, err
	}
	members = slices.Concat([]string{root}, members)
	if err := r.surroundings(ctx, append(slices.Clone(members), request.SessionID)); err != nil {
		return nil, err
	}
	why, err := r.graph.conversation(ctx, members)
	if err != nil {
		return nil, err
	}
	return inOrder(why, root, request.SessionID)
}

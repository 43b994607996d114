package statedb

import (
	"context"

	"session-sidecar/internal/faultpoint"
)

// This file carries a plan out.

// Remove takes the plan's rows out of the store, inside the transaction, and leaves the receipt that was prepared. Any error
// means that the transaction must be rolled back whole.
func (t *Tx) Remove(ctx context.Context, plan *Plan) error {
	remove := t.removeLegacy
	if plan.Path == PathCanonical {
		remove = t.removeCanonical
	}
	if err := remove(ctx, plan); err != nil {
		return onPath(plan.Path, err)
	}
	faultpoint.Hit(faultpoint.RowsChanged)
	return onPath(plan.Path, t.leaveReceipt(ctx, plan))
}

func (t *Tx) removeLegacy(ctx context.Context, plan *Plan) error {
	ids := plan.IDs()
	if err := t.conn.setAsideIndexes(ctx, plan.StaleIndexes); err != nil {
		return err
	}
	if err := t.conn.removeGuards(ctx, plan.stale); err != nil {
		return err
	}
	t.conn.forgetSurvey(unusedPrompts) // which this path leaves where they are
	if err := t.conn.deleteRows(ctx, plan.schema, ids, detach); err != nil {
		return err
	}
	return t.conn.proveGone(ctx, plan.schema, ids)
}

package statedb

import (
	"context"
	"slices"
)

// retirement is a retirement under way: what all of its parts have come to, and what is left to be done after the commit.
type retirement struct {
	terms
	policies []string // owners of local policies that may lead to one of the sessions

	records map[string]bool // keys that were written
	drops   []string        // keys that went
	ended   []string        // executions whose results went
	media   []Media
	named   map[string]bool // paths of media
	retained

	operation string   // see Circumstances.OperationID
	intent    bool     // see Circumstances.SharesRoutes
	spilled   []string // those of Circumstances.Spilled that the messages name
}

// newRetirement begins one of all sessions that go. owners are those of local policies that may lead to them.
func newRetirement(under Circumstances, ids, owners []string, expires func(id string) bool) *retirement {
	return &retirement{
		terms: terms{now(), expires, setOf(ids)}, policies: distinct(slices.Concat(owners, ids)), records: map[string]bool{}, named: map[string]bool{},
		operation: under.OperationID, intent: under.SharesRoutes,
	}
}

// add takes in what has become of a part.
func (r *retirement) add(o *outcome) {
	for key := range o.puts {
		r.records[key] = true
	}
	r.drops, r.ended = append(r.drops, o.drops...), append(r.ended, o.ended...)
	for _, m := range o.media {
		if !r.named[m.Path] {
			r.named[m.Path] = true
			r.media = append(r.media, m)
		}
	}
	r.finalResponses += o.finalResponses
	r.workerResults += o.workerResults
	r.mutationReceipts += o.mutationReceipts
}

// told says what is retained, and why.
func (r retained) told() []Counted {
	return slices.DeleteFunc([]Counted{
		{"final_responses", r.finalResponses, "an exact retry of a settled request still gets its answer"},
		{"worker_results", r.workerResults, "a worker that ends twice still gets its answer"},
		{"mutation_receipts", r.mutationReceipts, "an exact retry of a change is still known, without its text"},
	}, func(c Counted) bool { return c.Count == 0 })
}

// retire decides about the whole ledger, part by part, and lets use carry each part out before the next one is read: a ledger
// may be larger than memory. The plan then tells what is retained and which files were named.
func (c *conn) retire(ctx context.Context, plan *Plan, use func(*outcome) error) error {
	r, ids := plan.retirement, plan.IDs()
	err := c.eachPart(ctx, plan.schema, ids, r.policies, func(l *ledgerPart) error {
		o, err := retire(l, r.terms)
		if err != nil {
			return err
		}
		r.add(o)
		return use(o)
	})
	if err != nil {
		return err
	}
	plan.Retained, plan.Media = r.told(), r.media
	for _, file := range r.spilled {
		plan.Media = append(plan.Media, Media{Path: file, SessionID: ids[0]})
	}
	return nil
}

// foresee decides about the whole ledger and carries nothing out: what a delete would keep, or why it could not. Only a preview asks.
func (c *conn) foresee(ctx context.Context, plan *Plan) error {
	return c.retire(ctx, plan, func(*outcome) error { return nil })
}

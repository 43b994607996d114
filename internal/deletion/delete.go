// Package deletion keeps the order of a delete (contract 4), and nothing else: locks, stores and files meet only here. This file has the
// six steps from the top to the bottom; whatever else removes or brings back sessions goes the same way, or a part of it.
//
//  1. inHome takes the home's locks, and works through the manifests that are already there.
//  2. transact takes the store's write lock.
//  3. transact has the plan decided: the path, the whole set of ids, the guards.
//  4. transact changes the rows, and writes the manifest durably.
//  5. transact commits.
//  6. finish processes every manifest and collects the files that rows named; then inHome releases the locks.
package deletion

import (
	"context"
	"path/filepath"
	"time"

	"session-sidecar/statedb"
)

// Delete removes a conversation from a home's store and then its files. Where it found a row, a deletion receipt is committed
// with it: Outcome.Plan.Receipt (contract 8). A cancel is heard until the commit begins, and then the error is the context's;
// after that the delete finishes. Errors are those of home, locks, statedb and cleanup: then nothing was removed and no
// manifest is left, unless statedb.ErrOutcomeUnknown is among them, or the manifest could not be removed again, which does no
// harm: a live row protects its files.
func (d *Deleter) Delete(ctx context.Context, by Provenance, request Request) (*Outcome, error) {
	var outcome *Outcome
	err := d.inHome(ctx, request, func(h lockedHome) (err error) {
		outcome, err = d.deleteOne(ctx, h, by, request)
		return err
	})
	return outcome, err
}

// deleteOne is steps 2 to 6 of one delete: step 1 is done, for all the deletes that are made under one lock.
func (d *Deleter) deleteOne(ctx context.Context, h lockedHome, by Provenance, request Request) (*Outcome, error) {
	outcome, err := d.transact(ctx, h, request, func(tx *statedb.Tx, wanted statedb.Request) (*statedb.Plan, error) {
		plan, err := tx.Plan(ctx, wanted)
		if err != nil {
			return nil, err
		}
		return plan, tx.PrepareReceipt(ctx, plan, statedb.Evidence{
			OperationID: wanted.OperationID, Reason: by.Reason, Surface: by.Surface, StoreID: h.store, ProfileHome: filepath.Dir(h.store),
		})
	})
	if err != nil {
		return nil, d.explainChange(ctx, h, request, err)
	}
	d.finish(ctx, h, outcome, request.durations())
	return outcome, nil
}

// decision is what step 3 comes to, for what is wanted.
type decision func(tx *statedb.Tx, wanted statedb.Request) (*statedb.Plan, error)

// transact is steps 2 to 5 for whatever decides on a plan: a delete, or a part of a sweep. When it gives an outcome, the rows are gone for
// good and the manifest is there. A plan without targets changes nothing, and then there is no outcome. After an error nothing has changed,
// but for those that Delete tells of.
func (d *Deleter) transact(ctx context.Context, h lockedHome, request Request, decide decision) (outcome *Outcome, err error) {
	t := &transaction{deleter: d, home: h, request: request, took: request.durations()}
	defer func() { t.end(err) }()
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}

	// Step 2.
	if err := t.lock(ctx); err != nil {
		return nil, err
	}

	// Step 3.
	plan, err := t.decide(ctx, decide)
	if err != nil || len(plan.Targets) == 0 {
		return nil, err
	}
	if err := t.keeper.prove(ctx, t.tx, plan); err != nil {
		return nil, err
	}

	// Step 4.
	if err := t.changeRows(ctx, plan); err != nil {
		return nil, err
	}
	manifest, err := h.folder.WriteManifest(plan.IDs())
	if err != nil {
		return nil, err
	}

	// Step 5.
	if err := t.commit(ctx, manifest); err != nil {
		return nil, err
	}
	if t.keeper.written != nil {
		d.noteEntry(h.path, *t.keeper.written)
	}
	return &Outcome{Home: h.path, Plan: plan, Entry: t.keeper.written, LockHeld: t.tx.Held()}, nil
}

// finish is step 6, but for the locks. The rows are gone for good, so nobody's cancel stops the files from following.
func (d *Deleter) finish(ctx context.Context, h lockedHome, outcome *Outcome, took *Durations) {
	defer spend(&took.Cleanup, time.Now())
	ids := outcome.Plan.IDs()
	report, files := d.process(context.WithoutCancel(ctx), h, outcome.Plan.Media, ids...)
	outcome.Cleanup = report
	outcome.Stuck = anyStuck(report, ids) || anyOwn(files, outcome.Plan.Media)
}

package deletion

import (
	"context"
	"errors"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/statedb"
)

// transaction is steps 2 to 5 of one delete under way, with what is read before them so that nobody has to wait for that. See transact.
type transaction struct {
	deleter *Deleter
	home    lockedHome
	request Request
	took    *Durations

	wanted   statedb.Request
	deadline time.Time // of the patience for the write lock
	look     *statedb.Look
	keeper   *keeper
	tx       *statedb.Tx
}

// prepare reads what takes its time, without a lock of the store, and writes the entry in the trash where one is asked for. What of it
// still holds is found out under the write lock.
func (t *transaction) prepare(ctx context.Context) error {
	if err := t.foresee(ctx); err != nil {
		return err
	}
	var err error
	t.keeper, err = newKeeper(ctx, t.home, t.request, t.wanted, t.look)
	return err
}

// foresee reads a folder that may have many files, the base home, which may be on a slow disk, and whole tables of the store.
func (t *transaction) foresee(ctx context.Context) (err error) {
	defer spend(&t.took.Decision, time.Now())
	d := t.deleter
	t.wanted = t.request.toDelete(t.home.path)
	if t.wanted.Spilled, err = d.spilled(t.home.path, t.home.folder); err != nil {
		return err
	}
	t.deadline = time.Now().Add(d.patience)
	if t.look, err = d.stores.take(ctx, t.home.store, d.patience); err != nil {
		return err
	}
	if t.wanted.Agent, err = statedb.LookAtAgent(t.request.AgentDir); err != nil {
		return err
	}
	held, err := t.look.Survey(ctx, t.wanted.Agent)
	if err != nil {
		return err
	}
	if held || t.request.sweeps || t.request.KeepDays != 0 { // of what is kept, a copy is planned anyway
		return nil
	}
	return t.look.WarmUp(ctx, t.wanted)
}

// lock takes the store's write lock, and has the keeper know whether all that was seen still holds.
func (t *transaction) lock(ctx context.Context) (err error) {
	defer spend(&t.took.WriteLock, time.Now())
	t.tx, t.keeper.holds, err = t.look.BeginAnew(ctx, time.Until(t.deadline))
	return err
}

// decide looks at the Agent's folder once more: it may have been installed anew while we waited for the lock.
func (t *transaction) decide(ctx context.Context, decide decision) (plan *statedb.Plan, err error) {
	defer spend(&t.took.Decision, time.Now())
	if t.wanted.Agent, err = statedb.LookAtAgent(t.request.AgentDir); err != nil {
		return nil, err
	}
	return decide(t.tx, t.wanted)
}

// changeRows does what a plan says, in the transaction alone, and hears a cancel.
func (t *transaction) changeRows(ctx context.Context, plan *statedb.Plan) error {
	awaited, err := t.deleter.removeEntriesOf(ctx, t.home, plan.IDs())
	if err != nil {
		return err
	}
	if err := t.tx.Remove(ctx, plan); err != nil {
		return err
	}
	if err := t.tx.LeaveUnfenced(ctx, plan, awaited); err != nil {
		return err
	}
	return ctx.Err()
}

// commit hears a cancel for the last time. After a certain rollback the manifest goes again; where the outcome is unknown it stays, and
// so does the entry in the trash.
func (t *transaction) commit(ctx context.Context, manifest cleanup.Manifest) error {
	faultpoint.Hit(faultpoint.BeforeCommit)
	err := ctx.Err()
	if err != nil {
		err = errors.Join(err, t.tx.Rollback())
	} else {
		err = t.tx.Commit()
	}
	unknown := errors.Is(err, statedb.ErrOutcomeUnknown)
	t.keeper.stays = err == nil || unknown
	if err != nil {
		if !unknown {
			err = errors.Join(err, t.home.folder.Withdraw(manifest))
		}
		return err
	}
	faultpoint.Hit(faultpoint.AfterCommit)
	return nil
}

// end rolls back what was not committed, takes away the entry of what was certainly not done, and keeps the connection for the next delete
// where it is as good as before.
func (t *transaction) end(err error) {
	if t.tx != nil {
		_ = t.tx.Rollback()
		t.took.Transaction += t.tx.Held()
	}
	if t.keeper != nil {
		t.keeper.close()
	}
	switch {
	case t.look == nil:
	case isSound(err):
		t.deleter.stores.giveBack(t.home.store, t.look)
	default:
		t.look.Close()
	}
}

// Package deletion keeps the order of a delete (contract 4): the home's locks, what earlier deletes left, the write
// lock, the decision, the rows, the manifest, the commit, the files. Locks, stores and files meet only here.
package deletion

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
	"session-sidecar/internal/randomhex"
	"session-sidecar/internal/trash"
	"session-sidecar/locks"
	"session-sidecar/statedb"
)

// Request is one delete, as a caller asked for it.
type Request struct {
	ProfileHome       string // as given; it is resolved here, once
	SessionID         string
	WithLineage       bool
	WholeConversation bool
	ExpectedIDs       []string // what the user agreed to; nil where nobody was asked
	AgentDir          string   // empty where the host named none
	KeepDays          int      // how long what goes can be taken back; 0: not at all
	BaseHome          string   // the home whose routes all profiles share; empty where the host named none

	// Took is told how long the parts took, of a delete that fails too; nil where nobody asks.
	Took *Durations

	unasked bool // the watcher's: it waits for no lock, and comes back
}

// Provenance says who wanted a delete, and by which way it was asked for. It is no part of a request: only the handler of a
// user's call has one to give, so nothing that a caller sends can make one up (contract 8.4).
type Provenance struct {
	Reason  string
	Surface string
}

// toStore is what the store needs of a request.
func (r Request) toStore(agent statedb.Agent) statedb.Request {
	return statedb.Request{
		SessionID:         r.SessionID,
		WithLineage:       r.WithLineage,
		WholeConversation: r.WholeConversation,
		ExpectedIDs:       r.ExpectedIDs,
		Circumstances:     statedb.Circumstances{Agent: agent},
	}
}

// toDelete is that for a delete proper, which leaves work to be done after its commit.
func (r Request) toDelete(homePath string) statedb.Request {
	request := r.toStore(statedb.Agent{}) // which is looked at under the write lock
	request.OperationID = newOperationID()
	request.SharesRoutes = sharesRoutes(homePath, r.BaseHome)
	return request
}

// newOperationID names one delete: 32 hex digits.
func newOperationID() string { return randomhex.New(16) }

// Outcome is a delete whose rows are gone for good. Its files may not be: see Stuck.
type Outcome struct {
	Home    string         // resolved
	Plan    *statedb.Plan  // what it did to the store
	Cleanup cleanup.Report // of the whole home, older manifests included
	// Stuck tells whether an artifact of this very delete is still there, or a file that its rows named and that had to go.
	Stuck bool
	// Kept is the entry in the trash; nil where none was asked for, or where no row was there.
	Kept *trash.Header
	// LockHeld is for how long other writers had to wait for the rows to go.
	LockHeld time.Duration
}

// Deleter runs deletes. Use New, and Close at the end.
type Deleter struct {
	log      *slog.Logger
	locks    locks.Homes
	patience time.Duration

	background *background
	entries    trash.Checker
	metInTrash sync.Map // paths of trash that this process has looked at, or written
	tidyAt     sync.Map // resolved home -> time.Time: when its trash is to be looked through again
	purges     turns    // by home
	stores     openStores
	watcher    *cleanup.Watcher

	mu        sync.Mutex
	runs      map[string]Run // the newest of each home, by its resolved path
	ran       uint64         // all of them
	tell      func(Change)   // of what a run changed; see OnChange
	said      map[string]string
	sightings map[string]map[string]statedb.Sighting // by home, then by path of media: who named it when last asked
}

// New makes a Deleter that logs to log. A log line never holds a title, a message or a config. End it with Close.
func New(log *slog.Logger) *Deleter {
	return &Deleter{
		log: log, patience: statedb.Patience, background: newBackground(), runs: map[string]Run{},
		tell: func(Change) {}, said: map[string]string{}, sightings: map[string]map[string]statedb.Sighting{},
		watcher: cleanup.NewWatcher(log),
	}
}

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

// lockedHome is a home whose locks are held, with what a delete needs of it.
type lockedHome struct {
	path    string
	store   string
	folder  *cleanup.Folder
	unasked bool
	before  cleanup.Report // what was left to clean up before the work began
}

// inHome runs work under the locks of a request's home, when what earlier deletes left has been worked through (contract 4,
// step 1). A home without a store gets no lock file (contract 3.1).
func (d *Deleter) inHome(ctx context.Context, request Request, work func(lockedHome) error) (err error) {
	h := lockedHome{unasked: request.unasked}
	if h.path, err = home.Resolve(request.ProfileHome); err != nil {
		return err
	}
	if _, err := statedb.Locate(h.path); err != nil {
		if isMissing(err) {
			d.expireWithoutStore(ctx, h.path)
		}
		return err
	}
	if _, err := statedb.LookAtAgent(request.AgentDir); err != nil {
		return err
	}
	routes := d.routesOf(ctx, h.path, request.BaseHome)
	lock := d.locks.Lock
	if request.unasked {
		lock = d.locks.TryLock // a delete shall not stand behind a watcher that waits
	}
	asked := time.Now()
	unlock, err := lock(ctx, h.path)
	spend(&request.durations().HomeLock, asked)
	if err != nil {
		return err
	}
	defer func() {
		faultpoint.Hit(faultpoint.BeforeLocksAreReleased)
		unlock()
		routes.settle(ctx) // with no lock of this home: it waits for another store
	}()
	if h.store, err = statedb.Locate(h.path); err != nil {
		return err
	}
	if h.folder, err = cleanup.Open(h.path, request.ProfileHome); err != nil {
		return err
	}
	defer h.folder.Close()
	h.before, _ = d.process(ctx, h, nil)
	d.tidyTrashWhenDue(ctx, h, request.unasked)
	defer d.stores.settle(h.store)
	return work(h)
}

// deleteOne is steps 2 to 6 of one delete.
func (d *Deleter) deleteOne(ctx context.Context, h lockedHome, by Provenance, request Request) (*Outcome, error) {
	outcome, err := d.removeRows(ctx, h, by, request)
	if err != nil {
		return nil, d.explainChange(ctx, h, request, err)
	}
	d.finish(ctx, h, outcome, request.durations())
	return outcome, nil
}

// finish is step 6. The rows are gone for good, so nobody's cancel stops the files from following.
func (d *Deleter) finish(ctx context.Context, h lockedHome, outcome *Outcome, took *Durations) {
	defer spend(&took.Cleanup, time.Now())
	report, files := d.process(context.WithoutCancel(ctx), h, outcome.Plan.Media, outcome.Plan.IDs()...)
	outcome.Cleanup = report
	outcome.Stuck = anyStuck(report, outcome.Plan.IDs()) || anyOwn(files, outcome.Plan.Media)
}

// removeRows is steps 2 to 5: when it returns without an error, the rows are gone for good and the manifest is there.
func (d *Deleter) removeRows(ctx context.Context, h lockedHome, by Provenance, request Request) (*Outcome, error) {
	return d.transact(ctx, h, request, func(tx *statedb.Tx, wanted statedb.Request) (*statedb.Plan, error) {
		plan, err := tx.Plan(ctx, wanted)
		if err != nil {
			return nil, err
		}
		return plan, tx.PrepareReceipt(ctx, plan, statedb.Evidence{
			OperationID: wanted.OperationID, Reason: by.Reason, Surface: by.Surface, StoreID: h.store, ProfileHome: filepath.Dir(h.store),
		})
	})
}

// transact is steps 2 to 5 for whatever decides on a plan under the write lock. A plan without targets changes nothing, and
// then there is no outcome.
func (d *Deleter) transact(
	ctx context.Context, h lockedHome, request Request, decide func(*statedb.Tx, statedb.Request) (*statedb.Plan, error),
) (outcome *Outcome, err error) {
	took, begun := request.durations(), time.Now()
	deciding := true
	decided := func() {
		if deciding {
			spend(&took.Decision, begun)
		}
		deciding = false
	}
	defer decided() // of what is cancelled or refused on the way too
	// Nobody shall wait for what these look at: a folder of many files, the base home, which may be on a slow disk, and whole tables of
	// the store.
	wanted := request.toDelete(h.path)
	if wanted.Spilled, err = d.spilled(h.path, h.folder); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(d.patience)
	look, err := d.stores.take(ctx, h.store, d.patience)
	if err != nil {
		return nil, err
	}
	defer func() {
		if isSound(err) {
			d.stores.giveBack(h.store, look)
		} else {
			look.Close()
		}
	}()
	if wanted.Agent, err = statedb.LookAtAgent(request.AgentDir); err != nil {
		return nil, err
	}
	held, err := look.Survey(ctx, wanted.Agent)
	if err != nil {
		return nil, err
	}
	if !held && wanted.SessionID != "" && request.KeepDays == 0 { // a copy is planned anyway
		if err := look.WarmUp(ctx, wanted); err != nil {
			return nil, err
		}
	}
	decided()
	kept, err := d.copyRows(ctx, h, request, wanted, look)
	if err != nil {
		return nil, err
	}
	defer kept.close()
	asked := time.Now()
	tx, err := kept.begin(ctx, time.Until(deadline))
	spend(&took.WriteLock, asked)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = tx.Rollback()
		took.Transaction += tx.Held()
	}()
	begun, deciding = time.Now(), true
	// The Agent may have been installed anew while we waited for the lock.
	if wanted.Agent, err = statedb.LookAtAgent(request.AgentDir); err != nil {
		return nil, err
	}
	plan, err := decide(tx, wanted)
	decided()
	if err != nil || len(plan.Targets) == 0 {
		return nil, err
	}
	if err := kept.prove(ctx, tx, plan); err != nil {
		return nil, err
	}
	awaited, err := d.removeEntriesOf(ctx, h, plan.IDs())
	if err != nil {
		return nil, err
	}
	if err := tx.Remove(ctx, plan); err != nil {
		return nil, err
	}
	if err := tx.LeaveUnfenced(ctx, plan, awaited); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	manifest, err := h.folder.WriteManifest(plan.IDs()) // durable before commit
	if err != nil {
		return nil, err
	}
	err = commit(ctx, tx)
	kept.stays = err == nil || errors.Is(err, statedb.ErrOutcomeUnknown)
	if err != nil {
		if !errors.Is(err, statedb.ErrOutcomeUnknown) {
			err = errors.Join(err, h.folder.Withdraw(manifest))
		}
		return nil, err
	}
	faultpoint.Hit(faultpoint.AfterCommit)
	if kept.written != nil {
		d.meet(h.path, trash.Name(kept.written.OperationID))
		d.tidyNoLaterThan(h.path, kept.written.Until())
	}
	return &Outcome{Home: h.path, Plan: plan, Kept: kept.written, LockHeld: tx.Held()}, nil
}

// commit hears a cancel for the last time. Where it fails without ErrOutcomeUnknown, the rows are certainly back.
func commit(ctx context.Context, tx *statedb.Tx) error {
	faultpoint.Hit(faultpoint.BeforeCommit)
	if err := ctx.Err(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// process works through the home's manifests and through the files that rows named, and notes the run. own is the media that
// the rows of the delete named which it ends: which of its files are stuck is told beside. ids are those of that delete.
func (d *Deleter) process(ctx context.Context, h lockedHome, own []statedb.Media, ids ...string) (cleanup.Report, []stuckFile) {
	report := h.folder.Process(ctx, d.liveIn(h))
	files := d.removeMedia(ctx, h, own, &report)
	if ctx.Err() == nil {
		d.warnOnce("cleanup left manifests as they are", h.path, report.Failed)
	}
	d.noteRun(ctx, h, report, ids)
	return report, files
}

// anyStuck tells whether one of the ids still has files to go: it was not settled in this run, or is pending. What older
// deletes left does not count.
func anyStuck(report cleanup.Report, ids []string) bool {
	settled := map[string]bool{}
	for _, id := range report.Removed {
		settled[id] = true
	}
	for _, p := range report.Pending {
		if p.Cause != cleanup.CauseMediaFailed { // which anyOwn tells
			delete(settled, p.SessionID)
		}
	}
	return slices.ContainsFunc(ids, func(id string) bool { return !settled[id] })
}

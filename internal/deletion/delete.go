// Package deletion keeps the order of a delete (contract 4): the home's locks, what earlier deletes left, the write
// lock, the decision, the rows, the manifest, the commit, the files. Locks, stores and files meet only here.
package deletion

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/home"
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
}

// toStore is what the store needs of a request.
func (r Request) toStore(agent statedb.Agent) statedb.Request {
	return statedb.Request{
		SessionID:         r.SessionID,
		WithLineage:       r.WithLineage,
		WholeConversation: r.WholeConversation,
		ExpectedIDs:       r.ExpectedIDs,
		Agent:             agent,
	}
}

// Outcome is a delete whose rows are gone for good. Its files may not be: see Stuck.
type Outcome struct {
	Plan    *statedb.Plan  // what it did to the store
	Cleanup cleanup.Report // of the whole home, older manifests included
	// Stuck tells whether an artifact of this very delete is still there.
	Stuck bool
}

// Deleter runs deletes. Use New.
type Deleter struct {
	log      *slog.Logger
	locks    locks.Homes
	patience time.Duration

	mu      sync.Mutex
	reports map[string]cleanup.Report
}

// New makes a Deleter that logs to log. A log line never holds a title, a message or a config.
func New(log *slog.Logger) *Deleter {
	return &Deleter{log: log, patience: statedb.Patience, reports: map[string]cleanup.Report{}}
}

// Delete removes a conversation from a home's store and then its files. A cancel is heard until the commit begins, and
// then the error is the context's; after that the delete finishes. Errors are those of home, locks, statedb and cleanup:
// then nothing was removed and no manifest is left, unless statedb.ErrOutcomeUnknown is among them, or the manifest
// could not be removed again, which does no harm: a live row protects its files.
func (d *Deleter) Delete(ctx context.Context, request Request) (*Outcome, error) {
	var outcome *Outcome
	err := d.inHome(ctx, request, func(h lockedHome) (err error) {
		outcome, err = d.deleteOne(ctx, h, request)
		return err
	})
	return outcome, err
}

// lockedHome is a home whose locks are held, with what a delete needs of it.
type lockedHome struct {
	path   string
	store  string
	folder *cleanup.Folder
}

// inHome runs work under the locks of a request's home, when what earlier deletes left has been worked through (contract 4,
// step 1). A home without a store gets no lock file (contract 3.1).
func (d *Deleter) inHome(ctx context.Context, request Request, work func(lockedHome) error) (err error) {
	h := lockedHome{}
	if h.path, err = home.Resolve(request.ProfileHome); err != nil {
		return err
	}
	if _, err := statedb.Locate(h.path); err != nil {
		return err
	}
	if _, err := statedb.LookAtAgent(request.AgentDir); err != nil {
		return err
	}
	unlock, err := d.locks.Lock(ctx, h.path)
	if err != nil {
		return err
	}
	defer func() {
		faultpoint.Hit(faultpoint.BeforeLocksAreReleased)
		unlock()
	}()
	if h.store, err = statedb.Locate(h.path); err != nil {
		return err
	}
	if h.folder, err = cleanup.Open(h.path); err != nil {
		return err
	}
	defer h.folder.Close()
	d.process(ctx, h)
	return work(h)
}

// CleanUp works through what earlier deletes left in a home, as a crash may have, and does nothing else (contract 6.5). A
// home without a store has nothing that may be removed.
func (d *Deleter) CleanUp(ctx context.Context, profileHome string) error {
	err := d.inHome(ctx, Request{ProfileHome: profileHome}, func(lockedHome) error { return nil })
	if errors.Is(err, home.ErrMissing) || errors.Is(err, statedb.ErrMissing) {
		return nil
	}
	return err
}

// deleteOne is steps 2 to 6 of one delete.
func (d *Deleter) deleteOne(ctx context.Context, h lockedHome, request Request) (*Outcome, error) {
	outcome, err := d.removeRows(ctx, h, request)
	if err != nil {
		return nil, d.explainChange(ctx, h, err)
	}
	// The rows are gone for good, so nobody's cancel stops the files from following.
	outcome.Cleanup = d.process(context.WithoutCancel(ctx), h)
	outcome.Stuck = anyStuck(outcome.Cleanup, outcome.Plan.IDs())
	return outcome, nil
}

// removeRows is steps 2 to 5: when it returns without an error, the rows are gone for good and the manifest is there.
func (d *Deleter) removeRows(ctx context.Context, h lockedHome, request Request) (*Outcome, error) {
	tx, err := statedb.Begin(ctx, h.store, d.patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	// The Agent may have been installed anew while we waited for the lock.
	agent, err := statedb.LookAtAgent(request.AgentDir)
	if err != nil {
		return nil, err
	}
	plan, err := tx.Plan(ctx, request.toStore(agent))
	if err != nil {
		return nil, err
	}
	if err := tx.Remove(ctx, plan); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	manifest, err := h.folder.WriteManifest(plan.IDs()) // durable before commit
	if err != nil {
		return nil, err
	}
	if err := commit(ctx, tx); err != nil {
		if !errors.Is(err, statedb.ErrOutcomeUnknown) {
			err = errors.Join(err, h.folder.Withdraw(manifest))
		}
		return nil, err
	}
	faultpoint.Hit(faultpoint.AfterCommit)
	return &Outcome{Plan: plan}, nil
}

// commit hears a cancel for the last time. Where it fails without ErrOutcomeUnknown, the rows are certainly back.
func commit(ctx context.Context, tx *statedb.Tx) error {
	faultpoint.Hit(faultpoint.BeforeCommit)
	if err := ctx.Err(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// process works through the home's manifests and keeps the report for Reports.
func (d *Deleter) process(ctx context.Context, h lockedHome) cleanup.Report {
	report := h.folder.Process(ctx, liveIn(h.path))
	if report.Failed != nil && ctx.Err() == nil {
		d.log.Warn("cleanup left manifests as they are", "home", h.path, "error", report.Failed)
	}
	if ctx.Err() == nil {
		kept := report
		kept.Removed = nil // nobody asks for these, and they may be many
		d.mu.Lock()
		defer d.mu.Unlock()
		if report.Complete() {
			delete(d.reports, h.path)
		} else {
			d.reports[h.path] = kept
		}
	}
	return report
}

// Reports gives the newest cleanup report of each home that has something left to clean up, by its resolved path.
func (d *Deleter) Reports() map[string]cleanup.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.reports)
}

// anyStuck tells whether one of the ids still has files to go: it was not settled in this run, or is pending. What older
// deletes left does not count.
func anyStuck(report cleanup.Report, ids []string) bool {
	settled := map[string]bool{}
	for _, id := range report.Removed {
		settled[id] = true
	}
	for _, p := range report.Pending {
		delete(settled, p.SessionID)
	}
	return slices.ContainsFunc(ids, func(id string) bool { return !settled[id] })
}

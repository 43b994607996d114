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
	AgentDir          string // empty where the host named none
}

// Outcome is a delete whose rows are gone for good. Its files may not be: see Stuck.
type Outcome struct {
	Path       statedb.Path
	Existed    bool
	DeletedIDs []string // in the order of contract 5.3
	Removal    *statedb.Removal
	Cleanup    cleanup.Report // of the whole home, older manifests included
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
// then nothing was removed and no manifest is left, unless statedb.ErrOutcomeUnknown is among them.
func (d *Deleter) Delete(ctx context.Context, request Request) (*Outcome, error) {
	homePath, err := home.Resolve(request.ProfileHome)
	if err != nil {
		return nil, err
	}
	agent, err := statedb.LookAtAgent(request.AgentDir)
	if err != nil {
		return nil, err
	}
	// Before any lock, so that a home without a store gets no lock file.
	if _, err := statedb.Locate(homePath); err != nil {
		return nil, err
	}
	unlock, err := d.locks.Lock(ctx, homePath)
	if err != nil {
		return nil, err
	}
	defer unlock()
	outcome, err := d.deleteLocked(ctx, homePath, statedb.Request{
		SessionID:         request.SessionID,
		WithLineage:       request.WithLineage,
		WholeConversation: request.WholeConversation,
		Agent:             agent,
	})
	faultpoint.Hit(faultpoint.BeforeLocksAreReleased)
	return outcome, err
}

func (d *Deleter) deleteLocked(ctx context.Context, homePath string, request statedb.Request) (*Outcome, error) {
	store, err := statedb.Locate(homePath)
	if err != nil {
		return nil, err
	}
	folder, err := cleanup.Open(homePath)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	d.process(ctx, folder, homePath)

	outcome, err := d.removeRows(ctx, folder, store, request)
	if err != nil {
		return nil, err
	}
	// The rows are gone for good, so nobody's cancel stops the files from following.
	outcome.Cleanup = d.process(context.WithoutCancel(ctx), folder, homePath)
	outcome.Stuck = anyStuck(outcome.Cleanup, outcome.DeletedIDs)
	return outcome, nil
}

// removeRows is steps 2 to 5: when it returns without an error, the rows are gone for good and the manifest is there.
func (d *Deleter) removeRows(
	ctx context.Context, folder *cleanup.Folder, store string, request statedb.Request,
) (*Outcome, error) {
	tx, err := statedb.Begin(ctx, store, d.patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	plan, err := tx.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	removal, err := tx.Remove(ctx, plan)
	if err != nil {
		return nil, err
	}
	ids := plan.IDs()
	manifest, err := folder.WriteManifest(ids) // durable before commit
	if err != nil {
		return nil, err
	}
	if err := commit(ctx, tx); err != nil {
		if !errors.Is(err, statedb.ErrOutcomeUnknown) {
			err = errors.Join(err, folder.Withdraw(manifest))
		}
		return nil, err
	}
	faultpoint.Hit(faultpoint.AfterCommit)
	return &Outcome{Path: plan.Path, Existed: plan.Existed, DeletedIDs: ids, Removal: removal}, nil
}

// commit hears a cancel for the last time. Where it fails without ErrOutcomeUnknown, the rows are certainly back.
func commit(ctx context.Context, tx *statedb.Tx) error {
	faultpoint.Hit(faultpoint.BeforeCommit)
	if err := ctx.Err(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// process works through the home's manifests and keeps the report for Pending.
func (d *Deleter) process(ctx context.Context, folder *cleanup.Folder, homePath string) cleanup.Report {
	report := folder.Process(ctx, func(ctx context.Context, ids []string) (map[string]bool, error) {
		return statedb.LiveIDs(ctx, homePath, ids)
	})
	if report.Failed != nil && ctx.Err() == nil {
		d.log.Warn("cleanup left manifests as they are", "home", homePath, "error", report.Failed)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports[homePath] = report
	return report
}

// Reports gives the newest cleanup report of each home that was in use, by its resolved path.
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

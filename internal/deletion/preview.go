package deletion

import (
	"context"
	"errors"

	"session-sidecar/cleanup"
	"session-sidecar/internal/trash"
	"session-sidecar/statedb"
)

// Preview is what a delete would do now: rows, and files.
type Preview struct {
	Plan      *statedb.Plan
	Artifacts []cleanup.Artifact
	// TrashBytes is about how large the entry in the trash would be, for a request that asks for one; nil where there would be none.
	TrashBytes *int64

	unkept error // what stops it from being kept
}

// Refusal is why the delete may not be done; nil where it may.
func (p *Preview) Refusal() error {
	if p.Plan.Refusal != nil {
		return p.Plan.Refusal
	}
	return p.unkept
}

// PlanChanged says that a delete would take another set of ids than was agreed to, with what it would take. Unwrap gives
// the error of statedb.
type PlanChanged struct {
	Preview *Preview
	Cause   error
}

func (e *PlanChanged) Error() string { return e.Cause.Error() }

func (e *PlanChanged) Unwrap() error { return e.Cause }

// Preview tells what Delete would do with the same request (contract 5d). It takes no lock and changes nothing. A plan
// that may not be carried out has a Refusal; an error is one that Delete would give before it had a plan.
func (d *Deleter) Preview(ctx context.Context, request Request) (*Preview, error) {
	homePath, store, err := locate(request.ProfileHome)
	if err != nil {
		return nil, err
	}
	agent, err := statedb.LookAtAgent(request.AgentDir)
	if err != nil {
		return nil, err
	}
	folder, err := cleanup.Open(homePath, request.ProfileHome)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	wanted := request.toStore(agent)
	if wanted.Spilled, err = d.spilled(homePath, folder); err != nil {
		return nil, err
	}
	if request.KeepDays != 0 {
		kept, err := trash.Open(homePath)
		if err != nil {
			return nil, err
		}
		kept.Close()
	}
	plan, err := statedb.Preview(ctx, store, wanted)
	if err != nil {
		return nil, err
	}
	preview, err := withArtifacts(ctx, folder, homePath, plan)
	if err != nil {
		return nil, err
	}
	return preview, preview.estimate(ctx, store, request)
}

// estimate adds what would be kept, where the request asks for that and there is anything. What cannot be kept is not
// deleted either.
func (p *Preview) estimate(ctx context.Context, store string, request Request) error {
	if request.KeepDays == 0 || !p.Plan.Found() {
		return nil
	}
	var bytes int64
	err := refuseUnspelled(p.Plan)
	if err == nil {
		bytes, err = statedb.EstimateCopy(ctx, store, p.Plan)
		err = asUnkeepable(err)
	}
	switch {
	case err == nil:
		p.TrashBytes = &bytes
	case errors.Is(err, trash.ErrUnkeepable):
		p.unkept = err
	default:
		return err
	}
	return nil
}

func withArtifacts(
	ctx context.Context, folder *cleanup.Folder, homePath string, plan *statedb.Plan,
) (*Preview, error) {
	artifacts, err := folder.Artifacts(ctx, plan.IDs(), liveIn(homePath))
	_, ofStore := errors.AsType[*statedb.Error](err)
	switch {
	case err == nil:
		return &Preview{Plan: plan, Artifacts: artifacts}, nil
	case ofStore || ctx.Err() != nil:
		return nil, err
	}
	return nil, &cleanup.Error{Kind: cleanup.ErrUnusableFolder, Name: cleanup.FolderName, Cause: err}
}

// explainChange adds the files, and what would be kept, to a plan that is not the one agreed to. Other errors pass.
func (d *Deleter) explainChange(ctx context.Context, h lockedHome, request Request, err error) error {
	failure, is := errors.AsType[*statedb.Error](err)
	if !is || failure.Plan == nil {
		return err
	}
	preview, listing := withArtifacts(ctx, h.folder, h.path, failure.Plan)
	if listing != nil {
		preview = &Preview{Plan: failure.Plan} // the rows are what was agreed to; the files can be looked up again
	}
	_ = preview.estimate(ctx, h.store, request) // likewise
	return &PlanChanged{preview, err}
}

// liveIn asks a home's store which ids are live.
func liveIn(homePath string) cleanup.LiveFunc {
	return func(ctx context.Context, ids []string) (map[string]bool, error) {
		return statedb.LiveIDs(ctx, homePath, ids)
	}
}

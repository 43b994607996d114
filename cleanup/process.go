package cleanup

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/rooted"
	"session-sidecar/internal/sessionid"
)

// LiveFunc answers which of the ids have a live session row. It is asked for any number of ids at once. An error means
// that nobody knows, and then nothing is removed.
type LiveFunc func(ctx context.Context, ids []string) (map[string]bool, error)

// Process works through every manifest of the folder in name order (contract 6.3): the artifacts of ids that are not
// live go, what cannot go stays in the manifest, and a manifest with nothing left goes. The folder is listed once and the
// store is asked once, however many manifests there are. It stops between two manifests when the context ends. Call it
// under the home's locks.
func (f *Folder) Process(ctx context.Context, live LiveFunc) Report {
	run := run{folder: f, cause: map[string]Cause{}}
	if f.root == nil {
		return run.report
	}
	names, err := rooted.Names(f.root)
	if err != nil {
		run.report.Failed = err
		return run.report
	}
	run.read(names)
	if err := run.decide(ctx, names, live); err != nil {
		run.giveUp(err)
	} else {
		run.carryOut(ctx)
	}
	run.report.settle()
	return run.report
}

// run is one run over all manifests of a folder.
type run struct {
	folder    *Folder
	manifests []openManifest
	cause     map[string]Cause   // why an id stays pending; the others are to go
	owned     map[string][]claim // the files of the ids that are to go
	report    Report
}

// openManifest is a manifest that could be read.
type openManifest struct {
	name    string
	entries []entry
}

// read takes in every manifest, and takes away what was never finished.
func (r *run) read(names []string) {
	for _, name := range names {
		if isTemporary(name) {
			r.folder.removeAbandoned(name)
		}
	}
	for _, name := range manifestsAmong(names) {
		r.readManifest(name)
	}
}

// manifestsAmong are the names of manifests, sorted: the order in which they are read.
func manifestsAmong(names []string) (manifests []string) {
	for _, name := range names {
		if isManifest(name) {
			manifests = append(manifests, name)
		}
	}
	slices.Sort(manifests)
	return manifests
}

// readManifest takes in one manifest.
func (r *run) readManifest(name string) {
	entries, err := r.folder.readManifest(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // another program settled it since the folder was listed
	case err != nil:
		r.report.Unreadable = append(r.report.Unreadable, name)
	default:
		r.manifests = append(r.manifests, openManifest{name, entries})
	}
}

// ids are those that the manifests name.
func (r *run) ids() map[string]bool {
	ids := map[string]bool{}
	for _, m := range r.manifests {
		for _, e := range m.entries {
			ids[e.id] = true
		}
	}
	return ids
}

// decide tells which ids may go, which may not and why, and whose the files are.
func (r *run) decide(ctx context.Context, names []string, live LiveFunc) error {
	gone := r.ids()
	if len(gone) == 0 {
		return ctx.Err()
	}
	alive, err := live(ctx, slices.Sorted(maps.Keys(gone)))
	if err != nil {
		return err
	}
	for id := range gone {
		switch {
		case alive[id]:
			r.cause[id] = CauseSessionLive
		case !sessionid.Safe(id):
			r.cause[id] = CauseUnsafeID
		}
		if r.cause[id] != "" {
			delete(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	owned, err := withoutRivals(ctx, claims(names, gone), live)
	if err != nil {
		return err
	}
	r.owned = map[string][]claim{}
	for _, c := range owned {
		r.owned[c.id] = append(r.owned[c.id], c)
	}
	return nil
}

// giveUp leaves every manifest as it is: nobody knows which ids are live.
func (r *run) giveUp(err error) {
	r.report.Failed = err
	for _, m := range r.manifests {
		for _, e := range m.entries {
			r.report.Pending = append(r.report.Pending, Pending{e.id, CauseArtifactStuck})
		}
	}
}

// carryOut removes the files manifest by manifest, and leaves of each what is still pending.
func (r *run) carryOut(ctx context.Context) {
	for _, m := range r.manifests {
		if err := ctx.Err(); err != nil {
			r.report.Failed = errors.Join(r.report.Failed, err)
			return
		}
		err := r.unlinkAll(m.entries)
		if err == nil {
			err = r.shrink(m)
		}
		r.report.Failed = errors.Join(r.report.Failed, err)
	}
}

// unlinkAll removes the files of a manifest's ids. When it returns without an error, they are gone for good: that must be so
// before the manifest that names them goes.
func (r *run) unlinkAll(entries []entry) error {
	unlinked := false
	for _, e := range entries {
		for _, c := range r.owned[e.id] {
			removed, err := r.folder.unlink(c.name)
			if err != nil {
				r.cause[e.id] = CauseArtifactStuck
			}
			unlinked = unlinked || removed
		}
	}
	if !unlinked {
		return nil
	}
	err := rooted.Sync(r.folder.root)
	if err == nil {
		faultpoint.Hit(faultpoint.ArtifactsDurablyGone)
	}
	return err
}

// withoutRivals drops the claims on files that belong to a live session with a longer name.
func withoutRivals(ctx context.Context, all []claim, live LiveFunc) ([]claim, error) {
	var rivals []string
	for _, c := range all {
		rivals = append(rivals, c.rivals...)
	}
	if len(rivals) == 0 {
		return all, nil
	}
	alive, err := live(ctx, rivals)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c claim) bool {
		return slices.ContainsFunc(c.rivals, func(id string) bool { return alive[id] })
	}), nil
}

// shrink leaves a manifest with what is pending, or removes it.
func (r *run) shrink(m openManifest) error {
	var left []entry
	for _, e := range m.entries {
		if cause, pending := r.cause[e.id]; pending {
			left = append(left, e)
			r.report.Pending = append(r.report.Pending, Pending{e.id, cause})
		} else {
			r.report.Removed = append(r.report.Removed, e.id)
		}
	}
	switch {
	case len(left) == 0:
		faultpoint.Hit(faultpoint.BeforeManifestRemoval)
		if err := r.folder.removeIfThere(m.name); err != nil {
			return err
		}
		faultpoint.Hit(faultpoint.AfterManifestRemoval)
	case len(left) < len(m.entries):
		if err := r.folder.replaceDurably(m.name, encodeEntries(left)); err != nil {
			return err
		}
		faultpoint.Hit(faultpoint.ManifestRewritten)
	}
	return nil
}

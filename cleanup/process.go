package cleanup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"session-sidecar/internal/faultpoint"
)

// Cause says why an id of a manifest is still pending (contract 4, "cleanup").
type Cause string

// The causes that this package finds.
const (
	CauseSessionLive   Cause = "session_live"   // a live row has this id: its files are its own
	CauseArtifactStuck Cause = "artifact_stuck" // a file could not be removed, or is a folder
	CauseUnsafeID      Cause = "unsafe_id"      // the id is never turned into a file name
)

// Pending is an id whose artifacts are still to go.
type Pending struct {
	SessionID string
	Cause     Cause
}

// Report tells what one run over all manifests of a home left undone.
type Report struct {
	Removed    []string  // ids that were settled in this run, sorted
	Pending    []Pending // sorted by id
	Unreadable []string  // names of manifests that were left as they are
	// Failed is why a manifest that could be read was left whole: the store could not be asked, or the folder failed.
	Failed error
}

// Complete tells whether nothing at all is left to do.
func (r *Report) Complete() bool {
	return len(r.Pending) == 0 && len(r.Unreadable) == 0 && r.Failed == nil
}

// LiveFunc answers which of the ids have a live session row. It is asked for any number of ids at once. An error means
// that nobody knows, and then nothing is removed.
type LiveFunc func(ctx context.Context, ids []string) (map[string]bool, error)

// Process works through every manifest of the folder in name order (contract 6.3): the artifacts of ids that are not
// live go, what cannot go stays in the manifest, and a manifest with nothing left goes. It stops between two manifests
// when the context ends. Call it under the home's locks.
func (f *Folder) Process(ctx context.Context, live LiveFunc) Report {
	var report Report
	if f.root == nil {
		return report
	}
	names, err := f.names()
	if err != nil {
		report.Failed = err
		return report
	}
	run := run{folder: f, live: live, names: names, report: &report}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			report.Failed = errors.Join(report.Failed, err)
			break
		}
		switch {
		case isTemporary(name):
			f.removeAbandoned(name)
		case isManifest(name):
			run.manifest(ctx, name)
		}
	}
	report.settle()
	return report
}

func (r *Report) settle() {
	slices.Sort(r.Removed)
	r.Removed = slices.Compact(r.Removed)
	slices.SortFunc(r.Pending, func(a, b Pending) int {
		if a.SessionID != b.SessionID {
			return cmp.Compare(a.SessionID, b.SessionID)
		}
		return cmp.Compare(a.Cause, b.Cause)
	})
	r.Pending = slices.Compact(r.Pending)
}

// removeAbandoned takes away a temporary manifest that no running write can own. It holds nothing that a manifest does
// not hold better, so a failure is no harm: the next run tries again.
func (f *Folder) removeAbandoned(name string) {
	info, err := f.root.Lstat(name)
	if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAfter {
		_ = f.root.Remove(name)
	}
}

type run struct {
	folder *Folder
	live   LiveFunc
	names  []string
	report *Report
}

func (r *run) manifest(ctx context.Context, name string) {
	entries, err := r.folder.readManifest(name)
	if errors.Is(err, fs.ErrNotExist) {
		return // another program settled it since the folder was listed
	}
	if err != nil {
		r.report.Unreadable = append(r.report.Unreadable, name)
		return
	}
	pending, err := r.clean(ctx, entries)
	if err != nil {
		r.report.Failed = errors.Join(r.report.Failed, err)
		return
	}
	var left []entry
	for _, e := range entries {
		if cause, ok := pending[e.id]; ok {
			left = append(left, e)
			r.report.Pending = append(r.report.Pending, Pending{e.id, cause})
		} else {
			r.report.Removed = append(r.report.Removed, e.id)
		}
	}
	if err := r.shrink(name, entries, left); err != nil {
		r.report.Failed = errors.Join(r.report.Failed, err)
	}
}

// clean removes the artifacts of the ids that may go and tells why the others may not.
func (r *run) clean(ctx context.Context, entries []entry) (map[string]Cause, error) {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.id
	}
	live, err := r.live(ctx, ids)
	if err != nil {
		return nil, err
	}
	pending := map[string]Cause{}
	gone := map[string]bool{}
	for _, id := range ids {
		switch {
		case live[id]:
			pending[id] = CauseSessionLive
		case !SafeAsName(id):
			pending[id] = CauseUnsafeID
		default:
			gone[id] = true
		}
	}
	owned, err := r.withoutRivals(ctx, claims(r.names, gone))
	if err != nil {
		return nil, err
	}
	unlinked := false
	for _, c := range owned {
		removed, err := r.folder.unlink(c.name)
		if err != nil {
			pending[c.id] = CauseArtifactStuck
		}
		unlinked = unlinked || removed
	}
	if unlinked {
		// The unlinks must be durable before the manifest that names them goes.
		if err := syncFolder(r.folder.root); err != nil {
			return nil, err
		}
		faultpoint.Hit(faultpoint.ArtifactsDurablyGone)
	}
	return pending, nil
}

// withoutRivals drops the claims on files that belong to a live session with a longer name.
func (r *run) withoutRivals(ctx context.Context, all []claim) ([]claim, error) {
	var rivals []string
	for _, c := range all {
		rivals = append(rivals, c.rivals...)
	}
	if len(rivals) == 0 {
		return all, nil
	}
	live, err := r.live(ctx, rivals)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c claim) bool {
		return slices.ContainsFunc(c.rivals, func(id string) bool { return live[id] })
	}), nil
}

// unlink removes one artifact: a regular file, or a link itself and never what it points to. A folder or a device is no
// artifact and an error. One that is not there any more is fine.
func (f *Folder) unlink(name string) (removed bool, err error) {
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if mode := info.Mode(); !mode.IsRegular() && mode&fs.ModeSymlink == 0 {
		return false, errors.New("neither a regular file nor a link")
	}
	faultpoint.Hit(faultpoint.BeforeUnlink)
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	faultpoint.Hit(faultpoint.AfterUnlink)
	return true, nil
}

// shrink leaves a manifest with what is pending, or removes it.
func (r *run) shrink(name string, entries, left []entry) error {
	switch {
	case len(left) == 0:
		faultpoint.Hit(faultpoint.BeforeManifestRemoval)
		if err := r.folder.removeIfThere(name); err != nil {
			return err
		}
		faultpoint.Hit(faultpoint.AfterManifestRemoval)
	case len(left) < len(entries):
		if err := r.folder.replaceDurably(name, encodeEntries(left)); err != nil {
			return err
		}
		faultpoint.Hit(faultpoint.ManifestRewritten)
	}
	return nil
}

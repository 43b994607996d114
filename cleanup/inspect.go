package cleanup

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"session-sidecar/internal/rooted"
)

// CauseNone stands for an id that nothing is in the way of: the next run over the home settles it.
const CauseNone Cause = ""

// Inspection is what lies in sessions/ and is nobody's, as it was found; nothing was changed.
type Inspection struct {
	Artifacts  int       // files that are a live session's
	Manifests  int       // that can be read
	Pending    []Pending // ids of manifests, sorted; with CauseNone where the next run settles it
	Unreadable []string  // names of manifests that cannot be read
	Abandoned  []string  // names of manifests that were never finished
	// Orphans are files that are named as a session's, where there is no such session and no manifest names it.
	Orphans []Artifact
}

// Listing is what Inspect goes by: the names in sessions/ at one moment. Whoever asks which ids are live asks after that moment, so that
// a session that comes with its first file is never taken for missing.
type Listing struct {
	folder *Folder
	names  []string
	run    run
}

// List reads the names and the manifests. Errors are ErrUnusableFolder, and the context's.
func (f *Folder) List(ctx context.Context) (*Listing, error) {
	l := &Listing{folder: f, run: run{folder: f, cause: map[string]Cause{}}}
	if f.root == nil {
		return l, nil
	}
	var err error
	if l.names, err = rooted.Names(f.root); err != nil {
		return nil, &Error{Kind: ErrUnusableFolder, Name: FolderName, Cause: err}
	}
	slices.Sort(l.names)
	for _, name := range manifestsAmong(l.names) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.run.readManifest(name)
	}
	return l, nil
}

// Inspect tells what is left over, where live answers for the store (contract 6.1, 6.3). A delete may be under way: what it settles
// meanwhile is not left over, and neither is a file that it has yet to remove.
func (l *Listing) Inspect(ctx context.Context, live LiveFunc) (*Inspection, error) {
	found := &Inspection{Manifests: len(l.run.manifests), Unreadable: l.run.report.Unreadable}
	if l.folder.root == nil {
		return found, nil
	}
	if err := l.run.decide(ctx, l.names, live); err != nil {
		return nil, err
	}
	for _, name := range l.names {
		if isTemporary(name) && l.folder.isAbandoned(name) {
			found.Abandoned = append(found.Abandoned, name)
		}
	}
	owners, err := l.liveOwners(ctx, live)
	if err != nil {
		return nil, err
	}
	now, err := l.folder.List(ctx)
	if err != nil {
		return nil, err
	}
	named := now.run.ids()
	for id := range l.run.ids() {
		if named[id] {
			found.Pending = append(found.Pending, Pending{id, l.causeOf(id)})
		}
	}
	slices.SortFunc(found.Pending, func(a, b Pending) int { return cmp.Compare(a.SessionID, b.SessionID) })
	l.findOrphans(found, named, owners)
	return found, nil
}

// causeOf is why an id of a manifest cannot be settled now.
func (l *Listing) causeOf(id string) Cause {
	if cause, pending := l.run.cause[id]; pending {
		return cause
	}
	for _, c := range l.run.owned[id] {
		info, err := l.folder.root.Lstat(c.name)
		if err == nil && !removable(info.Mode()) {
			return CauseArtifactStuck
		}
	}
	return CauseNone
}

// liveOwners tells of each id that a name may belong to whether it is live, all at once.
func (l *Listing) liveOwners(ctx context.Context, live LiveFunc) (map[string]bool, error) {
	ids := map[string]bool{}
	for _, name := range l.names {
		eachOwner(name, func(id string, _ []string) {
			if canOwn(id) {
				ids[id] = false
			}
		})
	}
	if len(ids) == 0 {
		return ids, nil
	}
	alive, err := live(ctx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return nil, err
	}
	for id := range ids {
		ids[id] = alive[id]
	}
	return ids, nil
}

// findOrphans adds the files that nobody owns. What manifests name was read after the owners were asked for: a delete names its sessions
// before their rows are gone, and removes their files before it removes the manifest.
func (l *Listing) findOrphans(found *Inspection, named, owners map[string]bool) {
	for _, name := range l.names {
		isOwned, mayBe := false, false
		eachOwner(name, func(id string, _ []string) {
			alive, asked := owners[id]
			mayBe = mayBe || asked
			isOwned = isOwned || alive || named[id]
		})
		info, err := l.folder.root.Lstat(name)
		if !mayBe || err != nil || !removable(info.Mode()) {
			continue // no artifact, or gone since
		}
		if isOwned {
			found.Artifacts++
		} else {
			found.Orphans = append(found.Orphans, Artifact{name, info.Size()})
		}
	}
}

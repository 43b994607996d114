package deletion

import (
	"context"
	"errors"
	"slices"

	"session-sidecar/cleanup"
	"session-sidecar/statedb"
)

// stuckFile is a file that deleted rows named and that had to go and did not. Its note stays.
type stuckFile struct {
	path    string // of media; of spilled tool output inside the home
	session string // a session that named it; empty where that is not known
}

// pendingOf tells the sessions of stuck files: of those that a delete knows to have named, its own.
func pendingOf(files []stuckFile, own []statedb.Media) []cleanup.Pending {
	pending := make([]cleanup.Pending, len(files))
	for i, f := range files {
		session := f.session
		for _, m := range own {
			if m.Path == f.path {
				session = m.SessionID
			}
		}
		pending[i] = cleanup.Pending{SessionID: session, Cause: cleanup.CauseMediaFailed}
	}
	return pending
}

// anyOwn tells whether one of the stuck files was named by the rows of this very delete.
func anyOwn(files []stuckFile, own []statedb.Media) bool {
	return slices.ContainsFunc(files, func(f stuckFile) bool {
		return slices.ContainsFunc(own, func(m statedb.Media) bool { return m.Path == f.path })
	})
}

// spilled lists the files that tool output was spilled to. What cannot be listed stays, but where it only cannot be listed just
// now, nothing may be deleted: nobody would ever look for the files again.
func (d *Deleter) spilled(homePath string, folder *cleanup.Folder) ([]string, error) {
	files, err := folder.Spilled()
	if errors.Is(err, cleanup.ErrNotListed) {
		return nil, err
	}
	if err != nil {
		d.log.Warn("spilled tool output cannot be listed", "home", homePath, "error", err)
	}
	return files, nil
}

// removeNamed removes what deleted rows named, and enters into a report what had to go and did not. own is what the rows of
// this delete named: as long as nobody could tell whether it may go, it is stuck. What older deletes left can wait, where the
// store is busy; it is not forgotten.
func (d *Deleter) removeNamed(ctx context.Context, h lockedHome, own []statedb.Media, report *cleanup.Report) []stuckFile {
	c, err := d.collectNamed(ctx, h, own)
	stuck := c.stuck
	for _, m := range own {
		n := cleanup.Named{Path: m.Path, SHA256: m.SHA256}
		if state := h.folder.State(n); !c.settled[n] && (state == cleanup.NamedRemovable || state == cleanup.NamedUnknown) {
			stuck = append(stuck, stuckFile{m.Path, m.SessionID})
		}
	}
	report.Add(pendingOf(stuck, own)...)
	if ctx.Err() == nil && !errors.Is(err, statedb.ErrBusy) {
		d.warnOnce("files that deleted rows named were left as they are", h.path, err)
	}
	if err == nil {
		return stuck
	}
	known, _ := d.LastRun(h.path)
	for _, p := range known.Report.Pending {
		if p.Cause == cleanup.CauseMediaFailed {
			report.Add(p)
		}
	}
	return stuck
}

package cleanup

import (
	"cmp"
	"slices"
)

// Cause says why an id of a manifest is still pending (contract 4, "cleanup").
type Cause string

// The causes that this package finds.
const (
	CauseSessionLive   Cause = "session_live"   // a live row has this id: its files are its own
	CauseArtifactStuck Cause = "artifact_stuck" // a file could not be removed, or is a folder
	CauseUnsafeID      Cause = "unsafe_id"      // the id is never turned into a file name
	CauseMediaFailed   Cause = "media_failed"   // a file that its rows named could not be removed
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

// Add enters what else is pending.
func (r *Report) Add(pending ...Pending) {
	r.Pending = append(r.Pending, pending...)
	r.sortPending()
}

func (r *Report) sortPending() {
	slices.SortFunc(r.Pending, func(a, b Pending) int {
		return cmp.Or(cmp.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Cause, b.Cause))
	})
	r.Pending = slices.Compact(r.Pending)
}

// settle puts a report that is finished in order.
func (r *Report) settle() {
	slices.Sort(r.Removed)
	r.Removed = slices.Compact(r.Removed)
	r.sortPending()
}

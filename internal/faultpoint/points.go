// Package faultpoint names the instants of a delete, and of what else writes, at which a crash matters, so that a test can
// end the real process at each of them and look at what is left (contract 9: a crash leaves all of a delete or none).
//
// A release build compiles every Hit to nothing. The build tag faultpoints turns them on; see on.go.
package faultpoint

import "slices"

// Point is the name of one instant: what has just happened, or is about to.
type Point string

// The points, in the order in which a delete passes them.
const (
	LockHeld               Point = "lock_held"                 // the home's file lock is ours; nothing was looked at
	WriteLockHeld          Point = "write_lock_held"           // the write transaction is open; nothing was decided
	PlanDecided            Point = "plan_decided"              // the rows that go are known; none is gone
	RowsChanged            Point = "rows_changed"              // the rows are gone inside the transaction only
	ManifestTempWritten    Point = "manifest_temp_written"     // the temporary manifest has its bytes, not synced
	ManifestTempSynced     Point = "manifest_temp_synced"      // the temporary manifest is on the disk
	ManifestRenamed        Point = "manifest_renamed"          // the manifest has its name; the folder is not synced
	ManifestDurable        Point = "manifest_durable"          // the folder is synced; nothing is committed
	BeforeCommit           Point = "before_commit"             // the last instant at which a cancel is heard
	AfterCommit            Point = "after_commit"              // the rows are gone for good; every artifact is there
	BeforeUnlink           Point = "before_unlink"             // one artifact is about to go
	AfterUnlink            Point = "after_unlink"              // one artifact is gone
	ArtifactsDurablyGone   Point = "artifacts_durably_gone"    // the folder is synced after the unlinks
	ManifestRewritten      Point = "manifest_rewritten"        // a manifest was replaced by what is left of it
	BeforeManifestRemoval  Point = "before_manifest_removal"   // nothing of a manifest is pending any more
	AfterManifestRemoval   Point = "after_manifest_removal"    // a settled manifest is gone
	BeforeLocksAreReleased Point = "before_locks_are_released" // all work is done; the answer is not sent
)

// The points of an export, of a compact, and of the fence of the base home's routes; a delete passes none of them.
const (
	ExportRowWritten Point = "export_row_written" // a row is written, perhaps not the last; the file has no name
	ExportWritten    Point = "export_written"     // all of the file is written, not synced: a cancel is heard for the last time
	ExportSynced     Point = "export_synced"      // all of the file is on the disk; it has no name
	ExportNamed      Point = "export_named"       // the file has its name; the folder is not synced
	CompactBegins    Point = "compact_begins"     // the locks are held; nothing is rewritten
	CompactVacuumed  Point = "compact_vacuumed"   // the store is rewritten in its log, which is not moved over yet
	RoutesFenced     Point = "routes_fenced"      // the base home is fenced for good; the intent is still there
)

// The points of what goes on where rows named files; a delete whose rows named none does not pass them.
const (
	MediaUnlinked Point = "media_unlinked" // a named file is gone, perhaps not for good; the write lock is held, its note is there
	MediaDurable  Point = "media_durable"  // all of them are gone for good; no lock of the store is held, the notes are there
)

// The points of a purge, which goes on after a delete whose host asked for it; no lock of the home is held.
const (
	PurgeBegins Point = "purge_begins" // the delete is done; nothing of the indexes is merged
	PurgeStep   Point = "purge_step"   // one step of a merge is done inside its transaction
	PurgeMerged Point = "purge_merged" // the indexes are merged; the store's log is not emptied
)

// ReceiptWritten is a point of deletes that leave a receipt: it is written inside the transaction, where the rows are gone.
const ReceiptWritten Point = "receipt_written"

// The points of a delete that is kept for a while, before it takes the write lock, and of a restore.
const (
	TrashWritten  Point = "trash_written"  // the entry has its bytes, not synced
	TrashSynced   Point = "trash_synced"   // the entry is on the disk under a temporary name
	TrashNamed    Point = "trash_named"    // the entry has its name; the folder is not synced
	TrashDurable  Point = "trash_durable"  // the entry is there for good; nothing was decided under the write lock
	RestoreFilled Point = "restore_filled" // the rows are back inside the transaction only
	RestoreDone   Point = "restore_done"   // the rows are back for good; the entry is still there
)

// OfDelete lists the points of a delete, in their order.
func OfDelete() []Point {
	return []Point{
		LockHeld, WriteLockHeld, PlanDecided, RowsChanged, ManifestTempWritten, ManifestTempSynced, ManifestRenamed,
		ManifestDurable, BeforeCommit, AfterCommit, BeforeUnlink, AfterUnlink, ArtifactsDurablyGone, ManifestRewritten,
		BeforeManifestRemoval, AfterManifestRemoval, BeforeLocksAreReleased,
	}
}

// OfPurge lists the points of a purge.
func OfPurge() []Point { return []Point{PurgeBegins, PurgeStep, PurgeMerged} }

// OfTrash lists the points of a delete that is kept, beside those of every delete.
func OfTrash() []Point { return []Point{TrashWritten, TrashSynced, TrashNamed, TrashDurable} }

// OfRestore lists the points of a restore.
func OfRestore() []Point { return []Point{RestoreFilled, RestoreDone} }

// OfReceipts lists the points of a deletion receipt.
func OfReceipts() []Point { return []Point{ReceiptWritten} }

// OfMedia lists the points of the removal of files that rows named.
func OfMedia() []Point { return []Point{MediaUnlinked, MediaDurable} }

// OfExport lists the points of an export.
func OfExport() []Point { return []Point{ExportRowWritten, ExportWritten, ExportSynced, ExportNamed} }

// OfCompact lists the points of a compact.
func OfCompact() []Point { return []Point{CompactBegins, CompactVacuumed} }

// OfRoutes lists the points of a fence of the base home's routes.
func OfRoutes() []Point { return []Point{RoutesFenced} }

// Every lists all points there are: each needs a case in which the real process is killed there. A list that is new is added
// here; a test fails where a point stands in none.
func Every() []Point {
	return slices.Concat(OfDelete(), OfReceipts(), OfMedia(), OfRoutes(), OfPurge(), OfTrash(), OfRestore(), OfExport(), OfCompact())
}

package methods

import (
	"log/slog"

	"session-sidecar/internal/deletion"
)

// stateDB is what the methods of the namespace state_db share.
type stateDB struct {
	// receiptCommitted is the notification receipts.committed.
	receiptCommitted func(committedReceipt)
	// pages has room for the pages of receipts that may be put together at once.
	pages    chan struct{}
	log      *slog.Logger
	session  *session
	deleter  *deletion.Deleter
	counters *counters
}

func registerStateDB(r *Registry, db *stateDB) {
	register(r, spec[deleteParams, deleteResult]{
		name: "state_db.delete_cli_session", summary: "Deletes a session, its delegates and, if asked for, the segments of its conversation.",
		lenient: true, refusesInside: true, reasons: deleteReasons, streams: []streamed{purgeStep}, call: db.deleteCLISession,
	})
	register(r, spec[deleteParams, previewResult]{
		name: "state_db.preview_delete", summary: "Tells what state_db.delete_cli_session would do with the same parameters, and changes nothing.",
		refusesInside: true, reasons: deleteReasons, call: db.previewDelete,
	})
	register(r, spec[bulkParams, bulkResult]{
		name: "state_db.delete_sessions", summary: "Deletes many sessions, one transaction each, with progress.",
		refusesInside: true, reasons: deleteReasons, streams: []streamed{bulkProgress, purgeStep}, call: db.deleteSessions,
	})
}

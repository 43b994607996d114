package doctor

// Word is a stable word for one thing that may be found. docs/reference/doctor.md says of each what it means and what to do; where the contract
// has a word for it, it is that one.
type Word string

// The words.
const (
	// What keeps deletes from working, or what is lost.
	WordCorrupt           Word = "store_corrupt"
	WordUnsupported       Word = "store_unsupported"
	WordNoGuards          Word = "write_guard_unavailable"
	WordIndexUnavailable  Word = "fts_unavailable"
	WordIndexDamaged      Word = "fts_damaged"
	WordLooseMessages     Word = "messages_without_session"
	WordLostReferences    Word = "references_lost"
	WordReceiptsUnfit     Word = "receipts_unfit"
	WordReceiptsDamaged   Word = "receipts_damaged"
	WordManifestBad       Word = "manifest_unreadable"
	WordFolderUnusable    Word = "sessions_folder_unusable"
	WordLockUnusable      Word = "lock_unusable"
	WordIntentDamaged     Word = "route_intent_damaged"
	WordUnread            Word = "not_readable"
	WordIndexKeepsDeleted Word = "fts_keeps_deleted"
	WordTrashUnusable     Word = "trash_unusable"
	WordTrashDamaged      Word = "trash_damaged"

	// What is left over, or odd.
	WordGuardStale      Word = "guard_stale"
	WordGuardEndless    Word = "guard_endless"
	WordManifestPending Word = "manifest_pending"
	WordOrphans         Word = "artifact_without_session"
	WordLostParents     Word = "parent_lost"
	WordUndead          Word = "session_with_tombstone"
	WordIntentPending   Word = "route_intent_pending"
	WordIndexIncomplete Word = "fts_incomplete"
	WordWALLarge        Word = "wal_large"
	WordTrashExposed    Word = "trash_exposed"
	WordTrashOverdue    Word = "trash_overdue"

	// What is well, and worth knowing.
	WordSchemaNewer     Word = "schema_newer"
	WordGuardLive       Word = "guard_live"
	WordUnsettled       Word = "work_unsettled"
	WordEmptySessions   Word = "session_without_messages"
	WordFencesRunOut    Word = "fence_run_out"
	WordFencesGarbled   Word = "fence_garbled"
	WordFilesNoted      Word = "files_noted"
	WordIndexStale      Word = "fts_stale"
	WordIndexSetAside   Word = "fts_set_aside"
	WordNoWAL           Word = "journal_mode"
	WordJournalLeft     Word = "journal_left"
	WordAbandoned       Word = "manifest_abandoned"
	WordLockHeld        Word = "lock_held"
	WordCheckUnfinished Word = "check_unfinished"
	WordTrashKept       Word = "trash_kept"
	WordTrashUnfinished Word = "trash_unfinished"
)

// Severity tells what a finding asks of a person.
type Severity string

// The severities. A home with notes alone is healthy.
const (
	Error   Severity = "error"   // somebody has to do something
	Warning Severity = "warning" // something is left over or odd; it may go by itself
	Note    Severity = "note"    // nothing is wrong
)

// severities has every word.
var severities = map[Word]Severity{
	WordCorrupt: Error, WordUnsupported: Error, WordNoGuards: Error, WordIndexUnavailable: Error, WordIndexDamaged: Error,
	WordLooseMessages: Error, WordLostReferences: Error, WordReceiptsUnfit: Error, WordReceiptsDamaged: Error, WordManifestBad: Error,
	WordFolderUnusable: Error, WordLockUnusable: Error, WordIntentDamaged: Error, WordUnread: Error, WordIndexKeepsDeleted: Error,
	WordTrashUnusable: Error, WordTrashDamaged: Error,

	WordGuardStale: Warning, WordGuardEndless: Warning, WordManifestPending: Warning, WordOrphans: Warning, WordLostParents: Warning,
	WordUndead: Warning, WordIntentPending: Warning, WordIndexIncomplete: Warning, WordWALLarge: Warning,
	WordTrashExposed: Warning, WordTrashOverdue: Warning,

	WordSchemaNewer: Note, WordGuardLive: Note, WordUnsettled: Note, WordEmptySessions: Note, WordFencesRunOut: Note,
	WordFencesGarbled: Note, WordFilesNoted: Note, WordIndexStale: Note, WordIndexSetAside: Note, WordNoWAL: Note,
	WordJournalLeft: Note, WordAbandoned: Note, WordLockHeld: Note, WordCheckUnfinished: Note,
	WordTrashKept: Note, WordTrashUnfinished: Note,
}

// Finding is one thing that was found.
type Finding struct {
	Word     Word     `json:"word"`
	Severity Severity `json:"severity"`
	Line     string   `json:"line"`
	// Names are the first of the ids, files, tables or indexes that it speaks of.
	Names []string `json:"names,omitempty"`
}

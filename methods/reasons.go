package methods

import (
	"slices"

	"session-sidecar/rpc"
)

// Reason is a stable word that says why something was refused or failed: the reason of a delete's result, or the
// data.condition of an error answer (contract 1.10, 4).
type Reason string

// The reasons of a delete.
const (
	ReasonActiveTurn            Reason = "active_turn"
	ReasonRuntimeHistory        Reason = "runtime_history_unsupported"
	ReasonStoreMissing          Reason = "store_missing"
	ReasonStoreUnsupported      Reason = "store_unsupported"
	ReasonStoreBusy             Reason = "store_busy"
	ReasonStoreCorrupt          Reason = "store_corrupt"
	ReasonWriteGuardUnavailable Reason = "write_guard_unavailable"
	ReasonPlanChanged           Reason = "plan_changed"
	ReasonLineageAmbiguous      Reason = "lineage_ambiguous"
	ReasonFTSUnavailable        Reason = "fts_unavailable"
	ReasonManifestFailed        Reason = "manifest_failed"
	ReasonCleanupPending        Reason = "cleanup_pending"
	ReasonLockTimeout           Reason = "lock_timeout"
	ReasonIOError               Reason = "io_error"
	ReasonReceiptInvalid        Reason = "receipt_invalid"
)

// The reasons that only the fence and the sweep have (contract 5d).
const (
	ReasonSessionExists          Reason = "session_exists"
	ReasonSessionDeleted         Reason = "session_deleted"
	ReasonGenerationsExhausted   Reason = "generations_exhausted"
	ReasonConversationIncomplete Reason = "conversation_incomplete"
)

// The reasons that only receipts have (contract 8).
const (
	ReasonReceiptsMissing Reason = "receipts_schema_missing"
	ReasonCursorInvalid   Reason = "cursor_invalid"
)

// The reasons that only the trash has (contract 10).
const (
	ReasonNotFound     Reason = "not_found"
	ReasonTrashDamaged Reason = "trash_damaged"
)

// The conditions of error answers.
const (
	ConditionHandshakeRequired Reason = "handshake_required"
	ConditionAlreadyHandshaken Reason = "already_handshaken"
	ConditionVersionMismatch   Reason = "sidecar_rpc_version_mismatch"
	ConditionBusy              Reason = rpc.ConditionBusy
	ConditionCancelled         Reason = rpc.ConditionCancelled
	ConditionShuttingDown      Reason = rpc.ConditionShuttingDown
)

// storeReasons are what every method may answer that opens a store.
var storeReasons = []Reason{ReasonStoreMissing, ReasonStoreUnsupported, ReasonStoreBusy, ReasonStoreCorrupt, ReasonIOError}

// storeReasonsAnd are those of a method that has others too.
func storeReasonsAnd(more ...Reason) []Reason { return slices.Concat(storeReasons, more) }

// Meaning is what a host needs to act on a reason without a table of its own.
type Meaning struct {
	// Retryable tells whether the same call may succeed later, with nobody changing anything but what passes by itself.
	Retryable bool `json:"retryable"`
	// Sentence can be shown to a user as it is.
	Sentence string `json:"sentence"`
	// Description tells the app's developer what was found.
	Description string `json:"description"`
}

// Meanings is the one table of them all; rpc.discover carries it.
var Meanings = map[Reason]Meaning{
	ReasonActiveTurn: {
		true, "This conversation is in use right now. Try again when the reply is finished.",
		"a live turn lease or compression lock protects one of the sessions, or a request or worker of one is not settled; guard says which",
	},
	ReasonRuntimeHistory: {
		false, "A newer version of the Agent wrote this conversation. Update the Agent to delete it.",
		"a newer Agent's runtime history names the conversation, and the installed Agent is older",
	},
	ReasonStoreMissing: {
		false, "There is no conversation history in this profile.",
		"no such home, or no state.db in it",
	},
	ReasonStoreUnsupported: {
		false, "This history is of a kind that cannot be changed safely, so nothing was changed.",
		"the store is of a form that cannot be changed safely, and detail says how: it lacks what we need or has a part of the runtime ledger, rows of a table or by a reference unknown to us would be orphaned or taken along, it compares ids loosely or keeps them as numbers, or a trigger or constraint of its own stops the change",
	},
	ReasonStoreBusy: {
		true, "The Agent is busy saving. Try again in a moment.",
		"another process held the store's write lock for 20 s; for state_db.compact: somebody is in the way now",
	},
	ReasonStoreCorrupt: {
		false, "The conversation history is damaged, so nothing was changed.",
		"the store is damaged, or is no database",
	},
	ReasonWriteGuardUnavailable: {
		false, "This version of the Agent cannot show whether a conversation is in use, so nothing was changed.",
		"the store has no guards, so a running turn could not be seen",
	},
	ReasonPlanChanged: {
		false, "Something was added to this conversation meanwhile. Look at it again before you delete it.",
		"the ids are not those of expected_ids; plan has what would go now",
	},
	ReasonLineageAmbiguous: {
		false, "It is not certain which parts belong to this conversation, so nothing was deleted.",
		"the first segment does not lead to the requested session alone, or two sessions continue the same one",
	},
	ReasonFTSUnavailable: {
		false, "The search index of this history cannot be updated, so nothing was changed.",
		"a full-text index cannot be written, or searched, by this build; detail names it",
	},
	ReasonManifestFailed: {
		true, "The clean-up could not be prepared, so nothing was deleted. Check the free space and the permissions of the profile.",
		"the manifest of the files to remove could not be written",
	},
	ReasonCleanupPending: {
		true, "The conversation is deleted, but some of its files could not be removed yet.",
		"the rows are gone, a file of this delete is not; it is tried again",
	},
	ReasonLockTimeout: {
		true, "Another program is working in this profile. Try again in a moment.",
		"another process held the home's clean-up lock for 30 s",
	},
	ReasonIOError: {
		true, "The files of this profile could not be read or written. Check the disk and the permissions.",
		"the store, a lock file, sessions/, the trash or the Agent's folder cannot be used. Where the commit itself failed, and nowhere else, it is not known whether the rows are gone: asking again tells",
	},
	ReasonReceiptInvalid: {
		false, "The record of this conversation contradicts itself, so nothing was deleted.",
		"the policy of this local conversation does not hold: its record contradicts the rows",
	},
	ReasonSessionExists: {
		false, "A conversation of this name exists already.",
		"a session of this id is there",
	},
	ReasonSessionDeleted: {
		false, "A conversation of this name was deleted; the name cannot be used again.",
		"the id has a tombstone",
	},
	ReasonGenerationsExhausted: {
		false, "Every name for this conversation has been used. Start a new one.",
		"every candidate is retired or spent",
	},
	ReasonConversationIncomplete: {
		true, "Another part of this conversation has to stay for now, so all of it stays.",
		"a local conversation goes whole or not at all, and others of it stay",
	},
	ReasonReceiptsMissing: {
		false, "This history has no record of deleted conversations, so nobody can say what was deleted.",
		"the store has no receipts yet, which is not to say that nothing was deleted; data.detail is 'no such table: session_deletion_receipts'",
	},
	ReasonCursorInvalid: {
		false, "This history never gave so high a number. If it did once, it was put back to an earlier state, and what was read from it has to be compared anew.",
		"the sequence is beyond what this store ever gave; data.head is the newest that it has",
	},
	ReasonNotFound: {
		false, "This conversation is not in the trash any more.",
		"there is no such entry in the trash, or none any more",
	},
	ReasonTrashDamaged: {
		false, "What was kept of this conversation is damaged and cannot be brought back.",
		"the entry is cut off, or not what was written; it stays",
	},
	ConditionHandshakeRequired: {
		false, "The program that started the sidecar did not introduce itself first.",
		"runtime.handshake comes before every method outside rpc.* and runtime.*",
	},
	ConditionAlreadyHandshaken: {
		false, "The program that started the sidecar introduced itself twice, differently.",
		"a second handshake says something else than the first",
	},
	ConditionVersionMismatch: {
		false, "The app and its sidecar are of different versions. Reinstall or update the app.",
		"the host speaks another rpc_version; data has sidecar_rpc_version and host_rpc_version, and the process ends with status 3, since a restart cannot help",
	},
	ConditionBusy: {
		true, "Too much is going on at once. Try again in a moment.",
		"as many calls run as may run at once",
	},
	ConditionCancelled: {
		true, "This was cancelled; what was not done yet stays as it was.",
		"rpc.cancel came before the commit; of many at once, this one was not reached",
	},
	ConditionShuttingDown: {
		true, "The sidecar is closing. Try again when it has started anew.",
		"the sidecar takes no more calls",
	},
}

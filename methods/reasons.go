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
}

// Meanings is the one table of them all; rpc.discover carries it.
var Meanings = map[Reason]Meaning{
	ReasonActiveTurn:             {true, "This conversation is in use right now. Try again when the reply is finished."},
	ReasonRuntimeHistory:         {false, "A newer version of the Agent wrote this conversation. Update the Agent to delete it."},
	ReasonStoreMissing:           {false, "There is no conversation history in this profile."},
	ReasonStoreUnsupported:       {false, "This history is of a kind that cannot be changed safely, so nothing was changed."},
	ReasonStoreBusy:              {true, "The Agent is busy saving. Try again in a moment."},
	ReasonStoreCorrupt:           {false, "The conversation history is damaged, so nothing was changed."},
	ReasonWriteGuardUnavailable:  {false, "This version of the Agent cannot show whether a conversation is in use, so nothing was changed."},
	ReasonPlanChanged:            {false, "Something was added to this conversation meanwhile. Look at it again before you delete it."},
	ReasonLineageAmbiguous:       {false, "It is not certain which parts belong to this conversation, so nothing was deleted."},
	ReasonFTSUnavailable:         {false, "The search index of this history cannot be updated, so nothing was changed."},
	ReasonManifestFailed:         {true, "The clean-up could not be prepared, so nothing was deleted. Check the free space and the permissions of the profile."},
	ReasonCleanupPending:         {true, "The conversation is deleted, but some of its files could not be removed yet."},
	ReasonLockTimeout:            {true, "Another program is working in this profile. Try again in a moment."},
	ReasonIOError:                {true, "The files of this profile could not be read or written. Check the disk and the permissions."},
	ReasonReceiptInvalid:         {false, "The record of this conversation contradicts itself, so nothing was deleted."},
	ReasonSessionExists:          {false, "A conversation of this name exists already."},
	ReasonSessionDeleted:         {false, "A conversation of this name was deleted; the name cannot be used again."},
	ReasonGenerationsExhausted:   {false, "Every name for this conversation has been used. Start a new one."},
	ReasonConversationIncomplete: {true, "Another part of this conversation has to stay for now, so all of it stays."},
	ReasonReceiptsMissing:        {false, "This history has no record of deleted conversations, so nobody can say what was deleted."},
	ReasonCursorInvalid:          {false, "This history never gave so high a number. If it did once, it was put back to an earlier state, and what was read from it has to be compared anew."},
	ReasonNotFound:               {false, "This conversation is not in the trash any more."},
	ReasonTrashDamaged:           {false, "What was kept of this conversation is damaged and cannot be brought back."},
	ConditionHandshakeRequired:   {false, "The program that started the sidecar did not introduce itself first."},
	ConditionAlreadyHandshaken:   {false, "The program that started the sidecar introduced itself twice, differently."},
	ConditionVersionMismatch:     {false, "The app and its sidecar are of different versions. Reinstall or update the app."},
	ConditionBusy:                {true, "Too much is going on at once. Try again in a moment."},
	ConditionCancelled:           {true, "This was cancelled; what was not done yet stays as it was."},
	ConditionShuttingDown:        {true, "The sidecar is closing. Try again when it has started anew."},
}

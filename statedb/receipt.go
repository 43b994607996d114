package statedb

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"session-sidecar/internal/faultpoint"
)

// Deletion receipts (contract 8): durable evidence that a user asked for a delete, for programs that come later. This file
// holds what a receipt says and how a delete leaves one; the SQL is in receipt_sql.go.

// The reasons that only receipts have.
var (
	ErrNoReceipts    = errors.New("the store has no deletion receipts")
	ErrCursorInvalid = errors.New("the cursor is beyond the newest receipt that this store ever gave")
)

// Evidence is what a receipt says beside the rows.
type Evidence struct {
	OperationID string // 32 hex digits, which nobody can guess
	Reason      string // why there was a delete
	Surface     string // by which way it was asked for
	StoreID     string // the resolved path of the database that is written
	ProfileHome string // its folder
}

// Receipt is the receipt of one delete.
type Receipt struct {
	Evidence
	Sequence int64 // where it stands among the store's receipts; known once it is written
	deletion []byte
}

// deletionDocument is deletion_json (contract 8.2). It never holds what a conversation says: no message, title, summary,
// config, origin, user name, credential or file.
type deletionDocument struct {
	OperationID string     `json:"operation_id"`
	Reason      string     `json:"reason"`
	Surface     string     `json:"surface"`
	StoreID     string     `json:"store_id"`
	ProfileHome string     `json:"profile_home"`
	Identities  []identity `json:"identities"`
}

// identity is how one row could be reached before it went; nil where the row does not tell.
type identity struct {
	ID              string  `json:"id"`
	Source          *string `json:"source"`
	SessionKey      *string `json:"session_key"`
	ChatID          *string `json:"chat_id"`
	ChatType        *string `json:"chat_type"`
	ThreadID        *string `json:"thread_id"`
	ParentSessionID *string `json:"parent_session_id"`
}

// newReceipt spells what a receipt says, with the rows by their ids.
func newReceipt(e Evidence, identities []identity) (*Receipt, error) {
	slices.SortFunc(identities, func(a, b identity) int { return strings.Compare(a.ID, b.ID) })
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(deletionDocument{e.OperationID, e.Reason, e.Surface, e.StoreID, e.ProfileHome, identities})
	if err != nil {
		return nil, unsupported("the receipt cannot be spelled: %v", err)
	}
	return &Receipt{Evidence: e, deletion: []byte(strings.TrimSuffix(text.String(), "\n"))}, nil
}

// PrepareReceipt reads the rows that the plan takes, as they are before the first change, so that Remove leaves a receipt with
// them. A plan that finds no row leaves none (contract 8.3). Errors are *Error.
func (t *Tx) PrepareReceipt(ctx context.Context, plan *Plan, e Evidence) error {
	identities, err := t.conn.identities(ctx, plan.schema, plan.IDs())
	if err != nil {
		return onPath(plan.Path, classify("read how the rows are reached", err))
	}
	if len(identities) == 0 {
		return nil
	}
	plan.Receipt, err = newReceipt(e, identities)
	return onPath(plan.Path, err)
}

// leaveReceipt writes the plan's receipt, if it has one, where the rows are gone inside the transaction: both are committed, or
// neither is.
func (t *Tx) leaveReceipt(ctx context.Context, plan *Plan) error {
	if plan.Receipt == nil {
		return nil
	}
	if err := t.conn.writeReceipt(ctx, plan.Receipt); err != nil {
		return classify("write the deletion receipt", err)
	}
	faultpoint.Hit(faultpoint.ReceiptWritten)
	return nil
}

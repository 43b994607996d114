package methods

import (
	"context"
	"encoding/json"

	"session-sidecar/internal/deletion"
	"session-sidecar/statedb"
)

// byUser is the provenance of the two deletes that a user asks for, and of no other call: it stands here alone, so that a
// receipt says what it says whatever a request holds (contract 8.4).
var byUser = deletion.Provenance{Reason: "explicit_user", Surface: "session_rpc"}

// OperationID names one delete.
type OperationID string

// Sequence is the place of a receipt among those of its store, or a cursor between two of them.
type Sequence int64

// PageLimit is how many receipts may come at once.
type PageLimit int

// MaxReceipts is how many may be asked for at once, and fewReceipts how many come where nobody says (contract 8.5).
const (
	MaxReceipts = 1000
	fewReceipts = 100
)

// pagesAtOnce bounds the memory of a host that asks for many pages at once: each is in it several times.
const pagesAtOnce = 2

// Deletion is what a receipt says, as it was written (contract 8.2); null where there is none.
type Deletion json.RawMessage

// MarshalJSON passes it on as it is.
func (d Deletion) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

type listReceiptsParams struct {
	homeParams
	After Sequence   `json:"after_sequence,omitempty" jsonschema:"the cursor: receipts behind it are listed; 0 where absent"`
	Limit *PageLimit `json:"limit,omitempty" jsonschema:"how many may come at once; 100 where absent"`
}

type listReceiptsResult struct {
	Receipts  []receiptInfo `json:"receipts" jsonschema:"those behind the cursor, by sequence, from one snapshot; a page ends early, but not before its first, where they are long (some 4 MiB)"`
	NextAfter Sequence      `json:"next_after" jsonschema:"the cursor for the next page, after_sequence where this one is empty; where it is head, or the page is empty, there are no more for now"`
	Head      Sequence      `json:"head" jsonschema:"the newest sequence that this store ever gave; 0 where it gave none"`
}

type receiptInfo struct {
	Sequence Sequence `json:"sequence" jsonschema:"its place, never given twice"`
	Deletion Deletion `json:"deletion" jsonschema:"what the receipt says, as it was written: operation_id, reason, surface, store_id, profile_home, identities"`
}

type getReceiptParams struct {
	homeParams
	OperationID AnyText `json:"operation_id" jsonschema:"of the delete: receipt in its result"`
}

type getReceiptResult struct {
	Deletion Deletion `json:"deletion" jsonschema:"what the receipt says; null where this store has no such receipt, or none any more"`
}

type forgetReceiptsParams struct {
	homeParams
	Through Sequence `json:"through_sequence" jsonschema:"the newest one to forget; every consumer has to have staged all up to it"`
}

type forgetReceiptsResult struct {
	Removed int64 `json:"removed" jsonschema:"how many are gone; their sequences are never given again"`
}

// committedReceipt is the notification receipts.committed: a wake-up hint, never the truth (contract 8.6).
type committedReceipt struct {
	ProfileHome string      `json:"profile_home" jsonschema:"the home, resolved: what receipts.list takes"`
	Sequence    Sequence    `json:"sequence" jsonschema:"of the new receipt"`
	OperationID OperationID `json:"operation_id" jsonschema:"of the delete"`
}

// cursorInvalid is the data of the answer to a cursor beyond the newest receipt.
type cursorInvalid struct {
	Condition Reason   `json:"condition"`
	Head      Sequence `json:"head"`
}

var receiptReasons = storeReasonsAnd(ReasonReceiptsMissing, ReasonCursorInvalid)

func registerReceipts(r *Registry, s *service) {
	register(r, spec[listReceiptsParams, listReceiptsResult]{
		name: "receipts.list", summary: "Lists the deletion receipts of a store behind a cursor.",
		reasons: receiptReasons, call: overStore(s.listReceipts),
	})
	register(r, spec[getReceiptParams, getReceiptResult]{
		name: "receipts.get", summary: "Gives the deletion receipt of one delete.",
		reasons: receiptReasons, call: overStore(s.getReceipt),
	})
	register(r, spec[forgetReceiptsParams, forgetReceiptsResult]{
		name: "receipts.forget", summary: "Removes the deletion receipts that every consumer has staged.",
		reasons: receiptReasons, call: overStore(s.forgetReceipts),
	})
	s.receiptCommitted = announce[committedReceipt](r, "receipts.committed",
		"A delete left a deletion receipt. It is a hint to look, and may be lost: the truth is receipts.list.")
}

// announceReceipt tells the host of the receipt that a delete has committed, if it has left one. It is a hint, so nothing of the
// delete hangs on it.
func (s *service) announceReceipt(outcome *deletion.Outcome) {
	if outcome == nil || outcome.Plan.Receipt == nil {
		return
	}
	r := outcome.Plan.Receipt
	s.receiptCommitted(committedReceipt{outcome.Home, Sequence(r.Sequence), OperationID(r.OperationID)})
}

// listReceipts is contract 8.5.
func (s *service) listReceipts(ctx context.Context, store string, p listReceiptsParams) (listReceiptsResult, error) {
	limit := fewReceipts
	if p.Limit != nil {
		limit = int(*p.Limit)
	}
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	case <-ctx.Done():
		return listReceiptsResult{}, ctx.Err()
	}
	page, err := statedb.ListReceipts(ctx, store, int64(p.After), limit)
	if err != nil {
		return listReceiptsResult{}, err
	}
	result := listReceiptsResult{Receipts: []receiptInfo{}, NextAfter: Sequence(page.Next), Head: Sequence(page.Head)}
	for _, r := range page.Receipts {
		result.Receipts = append(result.Receipts, receiptInfo{Sequence(r.Sequence), Deletion(r.Deletion)})
	}
	return result, nil
}

// getReceipt is contract 8.5.
func (s *service) getReceipt(ctx context.Context, store string, p getReceiptParams) (getReceiptResult, error) {
	deletion, err := statedb.FindReceipt(ctx, store, string(p.OperationID))
	return getReceiptResult{Deletion(deletion)}, err
}

// forgetReceipts is contract 8.5.
func (s *service) forgetReceipts(ctx context.Context, store string, p forgetReceiptsParams) (forgetReceiptsResult, error) {
	removed, err := statedb.ForgetReceipts(ctx, store, int64(p.Through))
	if removed > 0 {
		s.log.Info("forget receipts", "home", string(p.ProfileHome), "through", int64(p.Through), "removed_count", removed)
	}
	return forgetReceiptsResult{removed}, err
}

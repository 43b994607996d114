package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// position is what the ledger knows of a store.
type position struct {
	known  bool   // it was looked at before
	cursor int64  // all receipts up to here are staged
	doubt  string // why a person has to look before anything goes on; empty where all is well
}

// receipt is one that may be staged.
type receipt struct {
	sequence    int64
	operationID string
	deletion    json.RawMessage
}

// verdict is what an answer about a store means.
type verdict struct {
	receipts []receipt // to be staged, by sequence
	next     position  // where the store stands once they are
	end      bool      // there is no more for now
	unknown  bool      // the store has no receipts yet, which is not to say that nothing was deleted
}

var operationID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// judge decides what the answer for a store means. Where it is an error that says nothing of the ledger, that comes back.
func judge(store string, at position, p page, err error) (verdict, error) {
	refused, is := errors.AsType[*refusal](err)
	switch {
	case err == nil:
		return judgePage(store, at, p), nil
	case is:
		return judgeRefusal(at, refused)
	}
	return verdict{}, err
}

// judgePage decides what a page of receipts behind a position means. What comes before the first doubt is staged.
func judgePage(store string, at position, p page) verdict {
	v := verdict{next: position{known: true, cursor: at.cursor}}
	for i, r := range p.Receipts {
		var says struct {
			OperationID string `json:"operation_id"`
			StoreID     string `json:"store_id"`
		}
		expected := v.next.cursor + 1
		begins := i == 0 && !at.known // whoever begins has missed nothing that he was to stage
		switch err := json.Unmarshal(r.Deletion, &says); {
		case r.Sequence > expected && !begins:
			return v.doubted("receipts %d to %d were forgotten before they were staged", expected, r.Sequence-1)
		case r.Sequence < expected:
			return v.doubted("receipt %d came where %d was to come", r.Sequence, expected)
		case err != nil || !operationID.MatchString(says.OperationID):
			return v.doubted("receipt %d does not say what it is of", r.Sequence)
		case says.StoreID != store:
			return v.doubted("receipt %d is of another store, %q: this one is a copy of it, or was moved", r.Sequence, says.StoreID)
		}
		v.receipts = append(v.receipts, receipt{r.Sequence, says.OperationID, r.Deletion})
		v.next.cursor = r.Sequence
	}
	switch {
	case len(p.Receipts) > 0:
		v.end = p.NextAfter == p.Head
	case p.Head == at.cursor || !at.known:
		v.next.cursor, v.end = p.Head, true
	default: // an empty page is the end, though its next_after is not the head
		return v.doubted("receipts %d to %d were forgotten before they were staged", at.cursor+1, p.Head)
	}
	return v
}

// judgeRefusal decides what an answer without a page means.
func judgeRefusal(at position, refused *refusal) (verdict, error) {
	v := verdict{next: position{known: true, cursor: at.cursor}}
	switch condition := refused.Data.Condition; {
	case condition == "receipts_schema_missing" && at.cursor == 0:
		v.end, v.unknown = true, true
		return v, nil
	case condition == "receipts_schema_missing":
		return v.doubted("receipts up to %d are staged, and now the store has none: it was restored or replaced", at.cursor), nil
	case condition == "cursor_invalid":
		return v.doubted("receipts up to %d are staged, and now the store has given %d: it was restored or replaced",
			at.cursor, refused.Data.Head), nil
	}
	return verdict{}, refused
}

func (v verdict) doubted(format string, args ...any) verdict {
	v.next.doubt = fmt.Sprintf(format, args...)
	v.end = true
	return v
}

package statedb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"session-sidecar/internal/jitter"
)

// What a consumer of deletion receipts does with them: it lists and finds them, and forgets those that it has (contract 8.5).

// StoredReceipt is a receipt as it is read: the object that deletion_json is, whoever wrote it.
type StoredReceipt struct {
	Sequence int64
	Deletion json.RawMessage
}

// ReceiptPage is what a consumer reads at once. Where Next is Head, or the page is empty (the rest may have been forgotten), there
// is no more for now.
type ReceiptPage struct {
	Receipts []StoredReceipt // by sequence
	Next     int64           // the cursor for the next page
	Head     int64           // the newest sequence ever given, 0 where there was none
}

// pageBytes is how much text a page may hold before it ends early: it is put together in memory, twice.
const pageBytes = 4 << 20

// ListReceipts reads the receipts behind a cursor, in one snapshot, limit of them at most. A page may be shorter where its
// receipts are long, and ends before a damaged one, which is ErrCorrupt where it comes first. Errors are *Error: ErrNoReceipts
// for a store without their table, ErrCursorInvalid with the head for a cursor beyond it (contract 8.5).
func ListReceipts(ctx context.Context, path string, after int64, limit int) (*ReceiptPage, error) {
	var page *ReceiptPage
	err := readReceipts(ctx, path, func(c *conn) (err error) {
		page = &ReceiptPage{Receipts: []StoredReceipt{}, Next: after}
		if page.Head, err = c.newestSequence(ctx, after); err != nil {
			return err
		}
		bytes := 0
		return c.eachReceipt(ctx, after, limit, func(r StoredReceipt) (more bool, err error) {
			bytes += len(r.Deletion)
			damaged := r.check()
			if len(page.Receipts) > 0 && (damaged != nil || bytes > pageBytes) {
				return false, nil
			}
			if damaged != nil {
				return false, damaged
			}
			page.Receipts = append(page.Receipts, r)
			page.Next = r.Sequence
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// check finds a receipt that cannot be passed on. Nobody may take it for one that says nothing.
func (r StoredReceipt) check() error {
	text := strings.TrimSpace(string(r.Deletion))
	if strings.HasPrefix(text, "{") && json.Valid(r.Deletion) && utf8.Valid(r.Deletion) {
		return nil
	}
	return &Error{Kind: ErrCorrupt, Detail: fmt.Sprintf("the deletion receipt %d is no JSON object", r.Sequence)}
}

// FindReceipt reads what the receipt of one delete says; nil where there is none of that delete. Errors are as those of
// ListReceipts.
func FindReceipt(ctx context.Context, path, operationID string) (deletion json.RawMessage, err error) {
	err = readReceipts(ctx, path, func(c *conn) error {
		deletion = nil
		return c.receiptOf(ctx, operationID, func(r StoredReceipt) error {
			deletion = r.Deletion
			return r.check()
		})
	})
	if err != nil {
		return nil, err
	}
	return deletion, nil
}

// MayHaveHadReceipt tells whether a delete has left a receipt, or may have left one that was forgotten since. An error means that
// nobody knows.
func MayHaveHadReceipt(ctx context.Context, path, operationID string) (may bool, err error) {
	err = readReceipts(ctx, path, func(c *conn) error {
		may = false
		if err := c.receiptOf(ctx, operationID, func(StoredReceipt) error { may = true; return nil }); err != nil || may {
			return err
		}
		may, err = c.someForgotten(ctx)
		return err
	})
	if errors.Is(err, ErrNoReceipts) {
		return false, nil
	}
	return may, err
}

// forgetAtOnce is how many receipts one transaction removes: few enough that nobody waits long for the write lock.
const forgetAtOnce = 1000

// ForgetReceipts removes the receipts up to a sequence, and tells how many. Sequences are never given again (contract 8.5). It
// works in short transactions with pauses for other writers; one that fails leaves the rest. The write lock is taken only
// where there is something to remove. Errors are as those of ListReceipts, and ErrBusy.
func ForgetReceipts(ctx context.Context, path string, through int64) (removed int64, err error) {
	var old bool
	err = readReceipts(ctx, path, func(c *conn) (err error) {
		if _, err := c.newestSequence(ctx, through); err != nil {
			return err
		}
		old, err = c.hasReceiptsThrough(ctx, through)
		return err
	})
	for more := old; err == nil && more; {
		var n int64
		n, err = forget(ctx, path, through)
		removed += n
		if more = n == forgetAtOnce; more && err == nil {
			err = pause(ctx)
		}
	}
	return removed, err
}

// forget removes some of them in one transaction.
func forget(ctx context.Context, path string, through int64) (removed int64, err error) {
	err = write(ctx, path, Patience, "remove deletion receipts", func(c *conn) error {
		if err := c.requireReceipts(ctx); err != nil {
			return err
		}
		removed, err = c.removeReceipts(ctx, through, forgetAtOnce)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// Reads of receipts meet a writing store again and again, and a consumer has to tell a moment's failure from a store that is
// gone: so they are tried three times more (contract 8.5).
const (
	transientRetries = 3
	transientPause   = 50 * time.Millisecond
)

// readReceipts looks at one snapshot of a store that has receipts.
func readReceipts(ctx context.Context, path string, look func(*conn) error) error {
	for retries := 0; ; retries++ {
		err := read(ctx, path, "read the deletion receipts", func(c *conn) error {
			if err := c.requireReceipts(ctx); err != nil {
				return err
			}
			return look(c)
		})
		if retries == transientRetries || !isTransient(err) {
			return err
		}
		if err := jitter.Pause(ctx, transientPause, transientPause/10); err != nil {
			return err
		}
	}
}

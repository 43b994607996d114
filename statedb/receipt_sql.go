package statedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"session-sidecar/internal/lazyregexp"
)

// This file holds all SQL over the deletion receipts.

// receiptsTable is the one thing that we ever add to the Agent's schema (contract 8.1).
const receiptsTable = "session_deletion_receipts"

const createReceipts = `CREATE TABLE IF NOT EXISTS ` + receiptsTable + ` (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, operation_id TEXT NOT NULL UNIQUE, deletion_json TEXT NOT NULL)`

var (
	receiptColumns = []string{"sequence", "operation_id", "deletion_json"}
	// saysAutoincrement is enough to foresee that a store keeps what it has given; writeReceipt makes sure.
	saysAutoincrement = lazyregexp.New(`(?i)\bautoincrement\b`)
)

// refuseOtherReceipts is ErrUnsupported where something of that name is there that could not hold a receipt, or that could give
// a sequence twice: a consumer would miss what has one that it has seen.
func (c *conn) refuseOtherReceipts(ctx context.Context, s *schema) error {
	var kind string
	err := c.QueryRowContext(ctx, `SELECT type FROM sqlite_schema WHERE lower(name) = ? AND type <> 'trigger'`, receiptsTable).Scan(&kind)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return classify("look for the deletion receipts", err)
	}
	counts, err := c.exists(ctx, `SELECT 1 FROM pragma_table_info(?) WHERE pk > 0 AND lower(name) = 'sequence'`, receiptsTable)
	if err != nil {
		return classify("look at the deletion receipts", err)
	}
	switch {
	case kind != "table" || !s.has(receiptsTable, receiptColumns...):
		return unsupported("the store's %s is not the table of receipts", receiptsTable)
	case !counts, !saysAutoincrement().MatchString(s.create[receiptsTable]):
		return unsupported("the store's %s may give a sequence twice", receiptsTable)
	case s.numeric[receiptsTable]["operation_id"]:
		return unsupported("the store keeps %s.operation_id as a number where it can", receiptsTable)
	case s.hasTriggerOn(receiptsTable):
		return unsupported("the store's %s has a trigger", receiptsTable)
	}
	return nil
}

// identities reads how the rows of some ids are reached.
func (c *conn) identities(ctx context.Context, s *schema, ids []string) (identities []identity, err error) {
	columns := []string{"+id"}
	for _, column := range []string{"source", "session_key", "chat_id", "chat_type", "thread_id", "parent_session_id"} {
		if s.has("sessions", column) {
			columns = append(columns, fmt.Sprintf("CASE WHEN typeof(%s) <> 'blob' THEN CAST(%[1]s AS TEXT) END", column))
		} else {
			columns = append(columns, "NULL")
		}
	}
	query := "SELECT " + strings.Join(columns, ", ") + " FROM sessions WHERE id IN "
	err = inChunks(distinct(ids), func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var i identity
			err := scan(&i.ID, &i.Source, &i.SessionKey, &i.ChatID, &i.ChatType, &i.ThreadID, &i.ParentSessionID)
			identities = append(identities, i)
			return err
		}, query+list, args...)
	})
	return identities, err
}

// writeReceipt writes a receipt, into a table that it makes where this is the first, and notes its sequence.
func (c *conn) writeReceipt(ctx context.Context, r *Receipt) error {
	if _, err := c.ExecContext(ctx, createReceipts); err != nil {
		return err
	}
	written, err := c.ExecContext(ctx, `INSERT INTO `+receiptsTable+` (operation_id, deletion_json) VALUES (?, ?)`,
		r.OperationID, string(r.deletion))
	if err != nil {
		return err
	}
	if r.Sequence, err = written.LastInsertId(); err != nil {
		return err
	}
	kept, err := c.exists(ctx, `SELECT 1 FROM sqlite_sequence WHERE lower(name) = ? AND seq = ?`, receiptsTable, r.Sequence)
	if err == nil && !kept {
		err = unsupported("the store's %s may give a sequence twice", receiptsTable)
	}
	return err
}

// requireReceipts is ErrNoReceipts for a store without their table, in SQLite's words: a consumer must not take it for one that
// has none to tell.
func (c *conn) requireReceipts(ctx context.Context) error {
	s, err := c.readSchema(ctx)
	if err != nil {
		return err
	}
	if err := c.refuseOtherReceipts(ctx, s); err != nil {
		return err
	}
	if !s.has(receiptsTable) {
		return &Error{Kind: ErrNoReceipts, Detail: "no such table: " + receiptsTable}
	}
	return nil
}

// newestSequence is the newest sequence ever given, and ErrCursorInvalid where a cursor is beyond it. SQLite remembers it when
// the receipts are forgotten.
func (c *conn) newestSequence(ctx context.Context, cursor int64) (head int64, err error) {
	err = c.QueryRowContext(ctx, `SELECT max(coalesce((SELECT max(CAST(seq AS INTEGER)) FROM sqlite_sequence WHERE lower(name) = ?), 0),
		coalesce((SELECT max(sequence) FROM `+receiptsTable+`), 0))`, receiptsTable).Scan(&head)
	if err == nil && cursor > head {
		err = &Error{Kind: ErrCursorInvalid, Detail: fmt.Sprintf("the cursor is %d, and the newest receipt is %d", cursor, head), Head: head}
	}
	return head, err
}

const selectReceipts = `SELECT sequence, CASE WHEN typeof(deletion_json) = 'text' THEN deletion_json ELSE '' END FROM ` + receiptsTable

// eachReceipt hands the receipts behind a cursor to use, by their sequence, until it wants no more.
func (c *conn) eachReceipt(ctx context.Context, after int64, limit int, use func(StoredReceipt) (more bool, err error)) error {
	err := c.each(ctx, func(scan scanFunc) error {
		r, err := scanReceipt(scan)
		if err != nil {
			return err
		}
		more, err := use(r)
		if err == nil && !more {
			err = errEnough
		}
		return err
	}, selectReceipts+` WHERE sequence > ? ORDER BY sequence LIMIT ?`, after, limit)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func scanReceipt(scan scanFunc) (StoredReceipt, error) {
	var sequence int64
	var deletion string
	err := scan(&sequence, &deletion)
	return StoredReceipt{sequence, []byte(deletion)}, err
}

// receiptOf hands the receipt of one delete to use, if there is one.
func (c *conn) receiptOf(ctx context.Context, operationID string, use func(StoredReceipt) error) error {
	return c.each(ctx, func(scan scanFunc) error {
		r, err := scanReceipt(scan)
		if err != nil {
			return err
		}
		return use(r)
	}, selectReceipts+` WHERE operation_id = ?`, operationID)
}

func (c *conn) hasReceiptsThrough(ctx context.Context, through int64) (bool, error) {
	return c.exists(ctx, `SELECT 1 FROM `+receiptsTable+` WHERE sequence <= ?`, through)
}

// removeReceipts removes the oldest ones up to a sequence.
func (c *conn) removeReceipts(ctx context.Context, through int64, limit int) (removed int64, err error) {
	done, err := c.ExecContext(ctx, `DELETE FROM `+receiptsTable+` WHERE sequence IN
		(SELECT sequence FROM `+receiptsTable+` WHERE sequence <= ? ORDER BY sequence LIMIT ?)`, through, limit)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// someForgotten tells whether receipts were given that are not there any more.
func (c *conn) someForgotten(ctx context.Context) (forgotten bool, err error) {
	head, err := c.newestSequence(ctx, 0)
	if err != nil {
		return false, err
	}
	var count int64
	err = c.QueryRowContext(ctx, "SELECT count(*) FROM "+receiptsTable).Scan(&count)
	return count < head, err
}

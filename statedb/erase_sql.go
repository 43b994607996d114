package statedb

import (
	"context"
	"strings"

	"session-sidecar/internal/lazyregexp"
)

// mergePages is how much one step of a merge writes, in pages of an index (contract 6b).
const mergePages = 64

// mergeIndex lets FTS5 merge so many pages, and tells how many rows that changed. A negative number puts all segments into one
// merge first.
func (t *Tx) mergeIndex(ctx context.Context, index string, pages int) (changed int64, err error) {
	before, err := t.conn.totalChanges(ctx)
	if err != nil {
		return 0, err
	}
	name := quoted(index)
	if _, err := t.conn.ExecContext(ctx, `INSERT INTO `+name+` (`+name+`, rank) VALUES ('merge', ?)`, pages); err != nil {
		return 0, err
	}
	after, err := t.conn.totalChanges(ctx)
	return after - before, err
}

// totalChanges counts all rows that the connection has changed, those of the tables behind an index included.
func (c *conn) totalChanges(ctx context.Context) (n int64, err error) {
	err = c.QueryRowContext(ctx, "SELECT total_changes()").Scan(&n)
	return n, err
}

// levels reads how the segments of an index lie. The id of that record is FTS5's own.
func (t *Tx) levels(ctx context.Context, index string) (ftsLevels, error) {
	var record []byte
	err := t.conn.QueryRowContext(ctx, `SELECT +block FROM `+quoted(index+"_data")+` WHERE id = 10`).Scan(&record)
	if err != nil {
		return nil, err
	}
	levels, err := readLevels(record)
	if err != nil {
		return nil, &Error{Kind: ErrCorrupt, Detail: "read the segments of the index " + index, Cause: err}
	}
	return levels, nil
}

// stir writes words into an index and takes them back, under an id that no row of it has, so that there is a segment on the lowest
// level again. The two cancel each other out. The words are more than a page of the index holds: FTS5 lifts an older segment that is
// no larger than a new one down to its level, and then all would lie on one level again. So they are put into a merge with what is
// there, before they are taken back; all in one transaction, or a crash would leave them.
func (t *Tx) stir(ctx context.Context, index string) error {
	name := quoted(index)
	var column string
	var id int64
	err := t.conn.QueryRowContext(ctx, `SELECT name FROM pragma_table_info(?) ORDER BY cid LIMIT 1`, index).Scan(&column)
	if err == nil {
		err = t.conn.QueryRowContext(ctx, `SELECT min(coalesce(min(id), 0), 0) - 1 FROM `+quoted(index+"_docsize")).Scan(&id)
	}
	if err != nil {
		return err
	}
	column = quoted(column)
	stirred := strings.Repeat("stir ", 20_000) // a word that is one to every tokenizer, as often as takes several pages
	if _, err := t.conn.ExecContext(ctx, `INSERT INTO `+name+` (rowid, `+column+`) VALUES (?, ?)`, id, stirred); err != nil {
		return err
	}
	if _, err := t.mergeIndex(ctx, index, -mergePages); err != nil {
		return err
	}
	_, err = t.conn.ExecContext(ctx, `INSERT INTO `+name+` (`+name+`, rowid, `+column+`) VALUES ('delete', ?, ?)`, id, stirred)
	return err
}

// forgotAll tells whether each entry of a merged index belongs to a message that is there. The triggers of the Agent's index of trigrams
// ask for the message's session: where that went first, by another program, they leave the words of the message in it for good.
func (c *conn) forgotAll(ctx context.Context, s *schema, index string) (forgot bool, err error) {
	of, known := externalContent(s.virtual[index])
	if !known || !s.has(index+"_docsize") || !s.has("messages", "id") {
		return true, nil // it holds its text itself, and SQLite keeps the two together
	}
	err = c.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM `+quoted(index+"_docsize")+` e
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = e.id)
		AND NOT EXISTS (SELECT 1 FROM `+quoted(of.table)+` r WHERE r.`+quoted(of.rowid)+` = e.id))`).Scan(&forgot)
	if err == nil && !forgot {
		err = errKeepsDeleted
	}
	return forgot, err
}

// keepsNoText tells of an FTS5 index whose texts lie in another table, as the Agent's do.
var keepsNoText = lazyregexp.New(`(?is)\bcontent\s*=\s*('[^']+'|"[^"]+"|[^\s,)'"]+)`)

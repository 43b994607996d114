package statedb

import (
	"context"
	"net/url"

	"session-sidecar/internal/storeuri"
)

// This file holds the SQL of the checks.

// copyURI opens a file of our own that nothing depends on, and makes it.
func copyURI(path string) string {
	return storeuri.Of(path, url.Values{"mode": {"rwc"}, "_busy_timeout": {"0"}, "_synchronous": {"off"}})
}

// checkTable gives SQLite's lines on one table and its indexes; none where it is sound. pragma is quick_check or integrity_check.
func (c *conn) checkTable(ctx context.Context, pragma, table string) ([]string, error) {
	return c.checkLines(ctx, "PRAGMA "+pragma+"("+quoted(table)+")")
}

func (c *conn) checkWhole(ctx context.Context) ([]string, error) {
	return c.checkLines(ctx, "PRAGMA integrity_check")
}

func (c *conn) checkLines(ctx context.Context, query string) (lines []string, err error) {
	err = c.each(ctx, func(scan scanFunc) error {
		var line string
		if err := scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			lines = append(lines, line)
		}
		return nil
	}, query)
	return lines, err
}

func (c *conn) lostReferences(ctx context.Context) (lost []LostReference, err error) {
	err = c.each(ctx, func(scan scanFunc) error {
		var l LostReference
		if err := scan(&l.Table, &l.Parent, &l.Count); err != nil {
			return err
		}
		lost = append(lost, l)
		return nil
	}, `SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2`)
	return lost, err
}

// compareWithText lets FTS5 read all text anew and compare it with the index. It changes nothing, but is a statement that writes.
func (c *conn) compareWithText(ctx context.Context, index string) error {
	name := quoted(index)
	_, err := c.ExecContext(ctx, `INSERT INTO `+name+` (`+name+`, rank) VALUES ('integrity-check', 1)`)
	return err
}

// compareEntries counts the entries of an index that no row stands behind, and the rows that have no entry.
func (c *conn) compareEntries(ctx context.Context, index string, of content) (extra, missing int, err error) {
	entries, rows, rowid := quoted(index+"_docsize"), quoted(of.table), quoted(of.rowid)
	err = c.QueryRowContext(ctx, `SELECT count(*) FROM `+entries+` e WHERE NOT EXISTS
		(SELECT 1 FROM `+rows+` r WHERE r.`+rowid+` = e.id)`).Scan(&extra)
	if err != nil {
		return 0, 0, err
	}
	err = c.QueryRowContext(ctx, `SELECT count(*) FROM `+rows+` r WHERE NOT EXISTS
		(SELECT 1 FROM `+entries+` e WHERE e.id = r.`+rowid+`)`).Scan(&missing)
	return extra, missing, err
}

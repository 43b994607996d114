package statedb

import (
	"context"
	"slices"
	"strings"

	"session-sidecar/internal/sqlname"
)

// This file holds all SQL that an export reads rows with.

// columnsOf lists a table's columns as they are spelled, in their order.
func (c *conn) columnsOf(ctx context.Context, table string) (columns []string, err error) {
	err = c.each(ctx, func(scan scanFunc) error {
		var column string
		if err := scan(&column); err != nil {
			return err
		}
		columns = append(columns, column)
		return nil
	}, `SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, table)
	return columns, classify("read the columns of "+table, err)
}

// asStored is SQL for columns whose values come as they are stored.
func asStored(columns []string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = "+" + quoted(column)
	}
	return strings.Join(list, ", ")
}

// eachRow hands every row of a table for which a condition holds with one of the values to use, in the order of the values, then of
// the column order, or of all columns where there is none of that name. No value is converted: the plus sign hides what a
// column is declared as, which the driver would otherwise obey.
func (c *conn) eachRow(
	ctx context.Context, table string, columns []string, condition string, values []any, order string, use func([]any) error,
) error {
	by := asStored(columns)
	if slices.ContainsFunc(columns, func(column string) bool { return sqlname.Same(column, order) }) {
		by = quoted(order)
	}
	query := "SELECT " + asStored(columns) + " FROM " + quoted(table) + " WHERE " + condition + " ORDER BY " + by
	cells := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for _, value := range values {
		err := c.each(ctx, func(scan scanFunc) error {
			if err := scan(into...); err != nil {
				return err
			}
			return use(cells)
		}, query, value)
		if err != nil {
			return err
		}
	}
	return nil
}

// promptsOf lists the keys of the system prompts that the sessions use, sorted.
func (c *conn) promptsOf(ctx context.Context, ids []string) ([]string, error) {
	hashes := map[string]bool{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var hash string
			if err := scan(&hash); err != nil {
				return err
			}
			hashes[hash] = true
			return nil
		}, `SELECT +system_prompt_hash FROM sessions WHERE system_prompt_hash IS NOT NULL AND id IN `+list, args...)
	})
	return sortedKeys(hashes), classify("read which system prompts are used", err)
}

package statedb

import "context"

// This file holds the SQL that weighs what a delete would copy.

// columnsToWeigh keeps a sum below SQLite's limit for the depth of an expression.
const columnsToWeigh = 900

// weighCopy sums up the rows that would be copied, and the bytes of all of their values.
func (c *conn) weighCopy(ctx context.Context, s *schema, ids []string) (total size, err error) {
	for _, t := range s.copiedTables() {
		columns, err := c.columnsOf(ctx, t.name)
		if err != nil {
			return total, err
		}
		keys, err := c.keysToCopy(ctx, t, ids)
		if err != nil {
			return total, err
		}
		lengths := "0"
		for _, column := range columns[:min(len(columns), columnsToWeigh)] {
			lengths += " + coalesce(octet_length(" + quoted(column) + "), 0)"
		}
		query := "SELECT count(*), coalesce(sum(" + lengths + "), 0) FROM " + quoted(t.name) + " WHERE " + quoted(t.key) + " IN "
		err = inChunks(keys, func(list string, args []any) error {
			var one size
			err := c.QueryRowContext(ctx, query+list, args...).Scan(&one.rows, &one.bytes)
			total.rows, total.bytes = total.rows+one.rows, total.bytes+one.bytes
			return err
		})
		if err != nil {
			return total, classify("measure what would be kept", err)
		}
	}
	return total, nil
}

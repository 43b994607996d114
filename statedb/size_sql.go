package statedb

import (
	"context"
	"strings"
)

// This file holds the SQL that measures how much belongs to a session.

// size is how much of something belongs to a session.
type size struct {
	rows  int
	bytes int64
}

// sizes counts messages and their text. SQLite tells the length of a column without reading the whole of it.
func (c *conn) sizes(ctx context.Context, s *schema, ids []string) (map[string]size, error) {
	lengths := "0"
	for _, column := range []string{"content", "tool_calls", "reasoning", "media_content", "tool_name"} {
		if s.has("messages", column) {
			lengths += " + coalesce(octet_length(" + column + "), 0)"
		}
	}
	sizes, err := c.measure(ctx, ids, `SELECT session_id, count(*), sum(`+lengths+`) FROM messages
		WHERE session_id IN LIST GROUP BY session_id`)
	return sizes, classify("measure the messages", err)
}

// measure runs a query that gives rows and bytes for each of the ids, which LIST stands for.
func (c *conn) measure(ctx context.Context, ids []string, query string) (map[string]size, error) {
	sizes := map[string]size{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var id string
			var one size
			if err := scan(&id, &one.rows, &one.bytes); err != nil {
				return err
			}
			sizes[id] = one
			return nil
		}, strings.Replace(query, "LIST", list, 1), args...)
	})
	return sizes, err
}

// ledgerSizes tells how much of the ledger belongs to each session.
func (c *conn) ledgerSizes(ctx context.Context, ids []string) (map[string]size, error) {
	sizes, err := c.measure(ctx, ids, `SELECT target_session_id, count(*), sum(`+sizeOfAdmission+`)
		FROM session_admissions WHERE target_session_id IN LIST GROUP BY target_session_id`)
	return sizes, classify("measure the runtime ledger", err)
}

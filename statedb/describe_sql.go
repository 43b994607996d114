package statedb

import (
	"context"
	"database/sql"
	"errors"
)

// This file holds the SQL that reads what a human recognises a session by.

// describe adds title and number of messages to a plan's targets.
func (c *conn) describe(ctx context.Context, plan *Plan) error {
	ids := plan.IDs()
	counts := map[string]int{}
	err := c.eachCount(ctx, ids, counts, `SELECT session_id, count(*) FROM messages WHERE session_id IN `, ` GROUP BY session_id`)
	if err != nil {
		return classify("count the messages", err)
	}
	titles, err := c.titles(ctx, plan.schema, ids)
	if err != nil {
		return err
	}
	for i, t := range plan.Targets {
		plan.Targets[i].MessageCount = counts[t.ID]
		plan.Targets[i].Title = titles[t.ID]
	}
	return nil
}

func (c *conn) titles(ctx context.Context, s *schema, ids []string) (map[string]string, error) {
	titles := map[string]string{}
	if !s.has("sessions", "title") {
		return titles, nil
	}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var id string
			var title sql.NullString
			if err := scan(&id, &title); err != nil {
				return err
			}
			titles[id] = title.String
			return nil
		}, `SELECT id, +title FROM sessions WHERE id IN `+list, args...)
	})
	return titles, classify("read the titles", err)
}

// describeChanged describes the plan that a refusal carries, if it carries one.
func (c *conn) describeChanged(ctx context.Context, refusal error) error {
	ours, is := errors.AsType[*Error](refusal)
	if !is || ours.Plan == nil {
		return nil
	}
	return c.describe(ctx, ours.Plan)
}

// Describe adds title and number of messages to a plan's targets.
func (t *Tx) Describe(ctx context.Context, plan *Plan) error { return t.conn.describe(ctx, plan) }

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// floor is the least that a delete can be: one transaction that deletes the rows of ids that somebody else has found out.
func (h *home) floor(ctx context.Context, made history, ids []string) (took time.Duration, err error) {
	err = h.connected(ctx, "rw", func(c *sql.Conn) error {
		took, err = bareDelete(ctx, c, made, ids)
		return err
	})
	return took, err
}

// floors are those of several deletes over one connection, each in a transaction of its own.
func (h *home) floors(ctx context.Context, made history, families ...[]string) (all []time.Duration, err error) {
	err = h.connected(ctx, "rw", func(c *sql.Conn) error {
		for _, ids := range families {
			took, err := bareDelete(ctx, c, made, ids)
			if err != nil {
				return err
			}
			all = append(all, took)
		}
		return nil
	})
	return all, err
}

// connected lets work use a connection that is as fresh as that of a delete.
func (h *home) connected(ctx context.Context, mode string, work func(*sql.Conn) error) error {
	c, closeBoth, err := h.connect(ctx, mode)
	if err != nil {
		return err
	}
	defer closeBoth()
	return work(c)
}

// bareDelete deletes the rows of one or two sessions, and is timed from BEGIN to the end of COMMIT.
func bareDelete(ctx context.Context, c *sql.Conn, made history, ids []string) (time.Duration, error) {
	first, last := ids[0], ids[len(ids)-1]
	start := time.Now()
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	var gone int64
	for _, statement := range made.bareDeletes() {
		result, err := c.ExecContext(ctx, statement, first, last)
		if err != nil {
			return 0, err
		}
		if gone, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	if _, err := c.ExecContext(ctx, "COMMIT"); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if gone != int64(len(ids)) { // the last statement deletes the sessions
		return 0, fmt.Errorf("%d sessions went, not %d", gone, len(ids))
	}
	return took, nil
}

// bareDeletes take the rows of two ids away. The ledger's go first: it holds its sessions.
func (h history) bareDeletes() []string {
	const these = "IN (?1, ?2)"
	var statements []string
	if h.schema == runtimeSchema {
		statements = []string{
			"DELETE FROM worker_receipts WHERE execution_id IN (SELECT execution_id FROM worker_executions WHERE session_id " + these + ")",
			"DELETE FROM worker_executions WHERE session_id " + these,
			"DELETE FROM session_admissions WHERE target_session_id " + these,
		}
	}
	return append(statements,
		"DELETE FROM messages WHERE session_id "+these,
		"UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id "+these,
		"DELETE FROM session_model_usage WHERE session_id "+these,
		"DELETE FROM sessions WHERE id "+these)
}

// scan asks once, of all sessions, whose marker names one of the ids.
func (h *home) scan(ctx context.Context, ids []string) (took time.Duration, err error) {
	var found []string
	err = h.connected(ctx, "ro", func(c *sql.Conn) error {
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		start := time.Now()
		rows, err := c.QueryContext(ctx, `SELECT id FROM sessions WHERE CASE WHEN json_valid(model_config)
			THEN json_extract(model_config, '$._delegate_from') END IN (SELECT value FROM json_each(?))`, string(list))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			found = append(found, id)
		}
		took = time.Since(start)
		return rows.Err()
	})
	if err == nil && !slices.Equal(found, ids[1:]) {
		err = fmt.Errorf("it found [%s], not [%s]", strings.Join(found, " "), strings.Join(ids[1:], " "))
	}
	return took, err
}

package statedb

import (
	"context"

	"session-sidecar/internal/faultpoint"
)

// This file holds all SQL that changes rows on the legacy path (contract 5.4).

// LeftBehind is what the path does not remove though it concerned the session (contract 4).
type LeftBehind struct {
	Kind  string // the table
	Count int
	Why   string
}

// Removal tells what a delete did beside removing the plan's rows.
type Removal struct {
	StaleIndexes []string // full-text indexes that the Agent has to rebuild (fts_stale)
	LeftBehind   []LeftBehind
}

// sideTables hold rows of a session that go with it, where the table exists.
var sideTables = []string{"compression_locks", "session_model_usage", "telegram_dm_topic_bindings"}

// Remove takes the plan's rows out of the store, inside the transaction. Any error means that the transaction must be
// rolled back whole.
func (t *Tx) Remove(ctx context.Context, plan *Plan) (*Removal, error) {
	removal, err := t.removeLegacy(ctx, plan)
	if err != nil {
		return nil, onPath(plan.Path, err)
	}
	faultpoint.Hit(faultpoint.RowsChanged)
	return removal, nil
}

func (t *Tx) removeLegacy(ctx context.Context, plan *Plan) (*Removal, error) {
	ids := plan.IDs()
	stale, err := t.conn.setAsideIndexes(ctx, plan.schema)
	if err != nil {
		return nil, err
	}
	prompts, err := t.conn.promptsOf(ctx, plan.schema, ids)
	if err != nil {
		return nil, err
	}
	if err := t.conn.removeGuards(ctx, plan.stale); err != nil {
		return nil, err
	}
	if err := t.conn.deleteRows(ctx, plan.schema, ids); err != nil {
		return nil, err
	}
	if err := t.conn.proveGone(ctx, plan.schema, ids); err != nil {
		return nil, err
	}
	left, err := t.conn.leftBehind(ctx, plan.schema, ids, prompts)
	if err != nil {
		return nil, err
	}
	return &Removal{StaleIndexes: stale, LeftBehind: left}, nil
}

// deleteRows keeps one order: messages before their session row, because the full-text triggers read it; children let go
// of their parent before it goes, because a foreign key would stop it; so do the side tables, for those stores whose
// references do not cascade.
func (c *conn) deleteRows(ctx context.Context, s *schema, ids []string) error {
	statements := []string{
		`DELETE FROM messages WHERE session_id IN `,
		`UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IN `,
	}
	for _, table := range sideTables {
		if s.has(table, "session_id") {
			statements = append(statements, `DELETE FROM `+table+` WHERE session_id IN `)
		}
	}
	statements = append(statements, `DELETE FROM sessions WHERE id IN `)
	for _, statement := range statements {
		err := inChunks(ids, func(list string, args []any) error {
			_, err := c.ExecContext(ctx, statement+list, args...)
			return err
		})
		if err != nil {
			return classify("delete the rows", err)
		}
	}
	return nil
}

// proveGone looks whether nothing names the ids any more: a trigger may skip a delete, or undo it, without an error.
func (c *conn) proveGone(ctx context.Context, s *schema, ids []string) error {
	queries := []string{
		`SELECT 1 FROM sessions WHERE id IN `,
		`SELECT 1 FROM messages WHERE session_id IN `,
		`SELECT 1 FROM sessions WHERE parent_session_id IN `,
	}
	for _, table := range sideTables {
		if s.has(table, "session_id") {
			queries = append(queries, `SELECT 1 FROM `+table+` WHERE session_id IN `)
		}
	}
	for _, query := range queries {
		err := inChunks(ids, func(list string, args []any) error {
			found, err := c.exists(ctx, query+list, args...)
			if err == nil && found {
				err = unsupported("a trigger of the store kept rows that were to go")
			}
			return err
		})
		if err != nil {
			return classify("look whether the rows are gone", err)
		}
	}
	return nil
}

// promptsOf lists the system prompts that the ids use.
func (c *conn) promptsOf(ctx context.Context, s *schema, ids []string) ([]string, error) {
	if !s.has("system_prompts", "hash") || !s.has("sessions", "system_prompt_hash") {
		return nil, nil
	}
	hashes := map[string]bool{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var hash string
			if err := scan(&hash); err != nil {
				return err
			}
			hashes[hash] = true
			return nil
		}, `SELECT DISTINCT p.hash FROM sessions s JOIN system_prompts p ON p.hash = s.system_prompt_hash WHERE s.id IN `+list,
			args...)
	})
	return sortedKeys(hashes), classify("read the system prompts", err)
}

// leftBehind counts what the legacy path leaves in the store though it concerned the ids.
func (c *conn) leftBehind(ctx context.Context, s *schema, ids, prompts []string) ([]LeftBehind, error) {
	var left []LeftBehind
	count := func(kind, why, query string, keys []string) error {
		total := 0
		err := inChunks(keys, func(list string, args []any) error {
			var n int
			err := c.QueryRowContext(ctx, query+list, args...).Scan(&n)
			total += n
			return err
		})
		if total > 0 {
			left = append(left, LeftBehind{kind, total, why})
		}
		return err
	}
	if s.has("gateway_routing", "entry_json") {
		err := count("gateway_routing", "these routes still name the session", `SELECT count(*) FROM gateway_routing
			WHERE CASE WHEN json_valid(entry_json) AND json_type(entry_json) = 'object'
			THEN json_extract(entry_json, '$.session_id') END IN `, ids)
		if err != nil {
			return nil, classify("count the routes", err)
		}
	}
	err := count("system_prompts", "no session uses these prompts any more",
		`SELECT count(*) FROM system_prompts p WHERE NOT EXISTS (
		SELECT 1 FROM sessions s WHERE s.system_prompt_hash = p.hash) AND p.hash IN `, prompts)
	if err != nil {
		return nil, classify("count the unused prompts", err)
	}
	return left, nil
}

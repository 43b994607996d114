package statedb

import "context"

// This file holds the SQL that takes the rows of sessions away, on either path (contract 5.4). What the canonical path does beside is in
// retire_sql.go.

// detach makes kept children roots.
const detach = `UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IN `

// deleteRows keeps one order: messages before their session row, because the full-text triggers read it; children let go
// of their parent before it goes, because a foreign key would stop it; so do the side tables, for those stores whose
// references do not cascade.
func (c *conn) deleteRows(ctx context.Context, s *schema, ids []string, detach string) error {
	if err := c.noteChildren(ctx, ids); err != nil {
		return err
	}
	statements := []string{`DELETE FROM messages WHERE session_id IN `, detach}
	for _, table := range s.hanging(sideTables()) {
		statements = append(statements, `DELETE FROM `+table.name+` WHERE `+table.key+` IN `)
	}
	statements = append(statements, `DELETE FROM sessions WHERE id IN `)
	for _, statement := range statements {
		err := inChunks(ids, func(list string, args []any) error {
			_, err := c.ExecContext(ctx, statement+list, args...)
			return err
		})
		if err != nil {
			return c.classifyIndex(ctx, "delete the rows", err)
		}
	}
	return nil
}

// proveGone looks whether nothing names the ids any more: a trigger may skip a delete, or undo it, without an error.
func (c *conn) proveGone(ctx context.Context, s *schema, ids []string) error {
	queries := []string{
		`SELECT 1 FROM sessions WHERE id IN LIST`,
		`SELECT 1 FROM messages WHERE session_id IN LIST`,
		`SELECT 1 FROM sessions WHERE parent_session_id IN LIST`,
	}
	for _, table := range s.hanging(sideTables()) {
		queries = append(queries, `SELECT 1 FROM `+table.name+` WHERE `+table.key+` IN LIST`)
	}
	for _, query := range queries {
		if err := c.refuseLeft(ctx, ids, query); err != nil {
			return err
		}
	}
	return nil
}

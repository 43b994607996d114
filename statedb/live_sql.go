package statedb

import "context"

// This file holds the SQL that asks which sessions are there.

// isLive tells whether a session's row is there, as SQLite compares ids in this store: no other row could be made beside it.
func (c *conn) isLive(ctx context.Context, id string) (bool, error) {
	return c.exists(ctx, `SELECT 1 FROM sessions WHERE id = ?`, id)
}

// liveAmong tells which of the ids have a session row in this store.
func (c *conn) liveAmong(ctx context.Context, ids []string) (map[string]bool, error) {
	live := map[string]bool{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var id string
			if err := scan(&id); err != nil {
				return err
			}
			live[id] = true
			return nil
		}, `SELECT id FROM sessions WHERE id IN `+list, args...)
	})
	return live, err
}

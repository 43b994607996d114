package statedb

import "context"

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

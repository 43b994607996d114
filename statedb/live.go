package statedb

import "context"

// LiveIDs asks the store of a resolved home which of the ids have a session row, over a read-only connection, for any
// number of ids (contract 6.3). An error means that nobody knows.
func LiveIDs(ctx context.Context, homePath string, ids []string) (map[string]bool, error) {
	path, err := Locate(homePath)
	if err != nil {
		return nil, err
	}
	live := map[string]bool{}
	err = read(ctx, path, "ask which sessions are live", func(c *conn) error {
		return inChunks(ids, func(list string, args []any) error {
			return c.each(ctx, func(scan scanFunc) error {
				var id string
				if err := scan(&id); err != nil {
					return err
				}
				live[id] = true
				return nil
			}, "SELECT id FROM sessions WHERE id IN "+list, args...)
		})
	})
	if err != nil {
		return nil, err
	}
	return live, nil
}

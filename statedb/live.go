package statedb

import "context"

// LiveIDs asks the store of a resolved home which of the ids have a session row, over a read-only connection, for any
// number of ids (contract 6.3). An error means that nobody knows.
func LiveIDs(ctx context.Context, homePath string, ids []string) (live map[string]bool, err error) {
	path, err := Locate(homePath)
	if err != nil {
		return nil, err
	}
	err = read(ctx, path, "ask which sessions are live", func(c *conn) (err error) {
		live, err = c.liveAmong(ctx, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	return live, nil
}

// LiveIDs tells which of the ids have a session row, as the look sees it.
func (l *Look) LiveIDs(ctx context.Context, ids []string) (map[string]bool, error) {
	live, err := l.conn.liveAmong(ctx, ids)
	return live, classify("ask which sessions are live", err)
}

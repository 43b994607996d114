package statedb

import "context"

// This file asks which sessions of a store are live, which is: have a row.

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

// LiveOrRestored asks the store of a resolved home which of the ids have a session row, and which of the new ids that a restore gives have
// one or had one, as far as a tombstone tells. An error means that nobody knows.
func LiveOrRestored(ctx context.Context, homePath string, ids, given []string) (live, restored map[string]bool, err error) {
	path, err := Locate(homePath)
	if err != nil {
		return nil, nil, err
	}
	err = read(ctx, path, "ask which sessions are live or retired", func(c *conn) error {
		s, err := c.readSchema(ctx)
		if err != nil {
			return err
		}
		if live, err = c.liveAmong(ctx, ids); err != nil {
			return err
		}
		if restored, err = c.liveAmong(ctx, given); err != nil {
			return err
		}
		fences, err := c.sessionFences(ctx, s, given)
		for id := range fences {
			restored[id] = true
		}
		return err
	})
	return live, restored, err
}

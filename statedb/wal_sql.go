package statedb

import "context"

// This file holds the SQL that moves the log, -wal, into the store's own file.

// truncateWAL moves the log into the store's file and empties it. That somebody is in the way is a value in the row that
// SQLite answers, and no error.
func (c *conn) truncateWAL(ctx context.Context) (done bool, err error) {
	var busy, frames, moved int
	err = c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	return busy == 0, err
}

// moveWAL moves what it can of the log into the store's file without keeping anybody out, and leaves the log as long as it is.
func (c *conn) moveWAL(ctx context.Context) error {
	_, err := c.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

package statedb

import (
	"context"
	"time"
)

// transact changes a store in one transaction that holds its write lock, which is tried for as long as patience allows. What was read before
// the lock has to be proved again by change. Where that fails, or the caller has gone meanwhile, nothing is changed.
func transact(ctx context.Context, path string, patience time.Duration, doing string, change func(*conn) error) error {
	tx, err := Begin(ctx, path, patience)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err = change(tx.conn); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return classify(doing, err)
	}
	return tx.Commit()
}

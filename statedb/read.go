package statedb

import (
	"context"
	"time"
)

// LookPatience is how long a question to the store waits for a process that recovers or checkpoints it.
const LookPatience = 2 * time.Second

// read looks at one snapshot of a store over a read-only connection. look runs anew, from the start, where another process
// is in the way for a moment.
func read(ctx context.Context, path, doing string, look func(*conn) error) error {
	return classify(doing, whileBusy(ctx, LookPatience, func() error { return readOnce(ctx, path, look) }))
}

func readOnce(ctx context.Context, path string, look func(*conn) error) error {
	c, err := open(ctx, path, readOnly)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	return look(c)
}

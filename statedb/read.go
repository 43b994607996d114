package statedb

import (
	"context"
	"time"
)

// LookPatience is how long a question to the store waits for a process that recovers or checkpoints it.
const LookPatience = 2 * time.Second

// read opens a store over a read-only connection, for use to read one snapshot of it. use runs anew, from the start, where another
// process is in the way for a moment.
func read(ctx context.Context, path, doing string, use func(*conn) error) error {
	return classify(doing, whileBusy(ctx, LookPatience, func() error { return readOnce(ctx, path, use) }))
}

func readOnce(ctx context.Context, path string, use func(*conn) error) error {
	c, err := open(ctx, path, readOnly)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	return use(c)
}

package statedb

import (
	"context"
	"time"
)

// livePatience is how long a question to the store waits for a process that recovers or checkpoints it.
const livePatience = 2 * time.Second

// LiveIDs asks the store of a resolved home which of the ids have a session row, over a read-only connection, for any
// number of ids (contract 6.3). An error means that nobody knows.
func LiveIDs(ctx context.Context, homePath string, ids []string) (map[string]bool, error) {
	path, err := Locate(homePath)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(livePatience)
	for {
		live, err := askLive(ctx, path, ids)
		if err == nil {
			return live, nil
		}
		if isBusy(err) && time.Now().Before(deadline) {
			err = pause(ctx)
		}
		if err != nil {
			return nil, classify("ask which sessions are live", err)
		}
	}
}

func askLive(ctx context.Context, path string, ids []string) (map[string]bool, error) {
	c, err := open(ctx, path, readOnly)
	if err != nil {
		return nil, err
	}
	defer c.close()
	live := map[string]bool{}
	err = inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var id string
			if err := scan(&id); err != nil {
				return err
			}
			live[id] = true
			return nil
		}, "SELECT id FROM sessions WHERE id IN "+list, args...)
	})
	return live, err
}

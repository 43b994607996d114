package statedb

import (
	"context"
	"sync"
	"time"
)

// This file holds the SQL of a compact.

// vacuum rewrites the store, and tells before, after, and now and then how much of it is in the log.
func (c *conn) vacuum(ctx context.Context, path string, progress func(CompactProgress)) error {
	var of int64
	err := c.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&of)
	if err != nil {
		return err
	}
	before := walSize(path)
	tell := func() { progress(CompactProgress{PhaseVacuum, min(of, max(0, walSize(path)-before)), of}) }
	progress(CompactProgress{PhaseVacuum, 0, of})
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				tell()
			case <-done:
				return
			}
		}
	})
	_, err = c.ExecContext(ctx, "VACUUM")
	close(done)
	watching.Wait()
	if err == nil {
		progress(CompactProgress{PhaseVacuum, of, of})
	}
	return err
}

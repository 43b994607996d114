package statedb

import (
	"context"
	"strings"
)

// This file holds how the fences of sessions and of routes are read and written as records. What they say is tombstone.go's.

// sessionFences reads the tombstones of the ids, by id.
func (c *conn) sessionFences(ctx context.Context, s *schema, ids []string) (map[string]string, error) {
	records, err := c.records(ctx, s, prefixed(retiredSessionPrefix, ids))
	fences := map[string]string{}
	for key, value := range records {
		fences[strings.TrimPrefix(key, retiredSessionPrefix)] = value
	}
	return fences, err
}

// agedOutFences are the keys of the fences of one kind, of sessions or of routes, that hold no longer.
func (c *conn) agedOutFences(ctx context.Context, s *schema, prefix string, now float64) (keys []string, err error) {
	if !s.hasRecords() {
		return nil, nil
	}
	err = c.eachExpiring(ctx, prefix, func(key string, t tombstone) {
		if t.agedOut(now) {
			keys = append(keys, key)
		}
	})
	return keys, err
}

// eachExpiring hands the fences of one kind that expire to use. Most fences are for good: they are not even read. One that spells the
// word with escapes is taken for one of them, and stays.
func (c *conn) eachExpiring(ctx context.Context, prefix string, use func(key string, t tombstone)) error {
	return c.eachUnderThatHolds(ctx, prefix, fieldExpires, func(key, value string) {
		if t := readTombstone(value); t.expires {
			use(key, t)
		}
	})
}

// replaceSessionFences writes over tombstones that are there, by id.
func (c *conn) replaceSessionFences(ctx context.Context, fences map[string]string) error {
	records := map[string]string{}
	for id, value := range fences {
		records[retiredSessionPrefix+id] = value
	}
	return c.putRecords(ctx, "write state_meta", records)
}

// readFences reads the fences under these keys of state_meta.
func (c *conn) readFences(ctx context.Context, s *schema, keys []string) (map[string]*tombstone, error) {
	records, err := c.records(ctx, s, keys)
	fences := map[string]*tombstone{}
	for key, value := range records {
		fence := readTombstone(value)
		fences[key] = &fence
	}
	return fences, err
}

package statedb

import (
	"context"
	"strings"
)

// This file holds all SQL over the fences in state_meta. A store without that table has none.

// recordColumns are a record's key and its text. One that is no text says nothing that anyone could read. The plus sign hides
// a declared type from the driver.
const recordColumns = `SELECT +key, CASE WHEN typeof(value) = 'text' THEN value ELSE '' END FROM state_meta `

// records reads what is there under the keys. In a table that lets a key stand twice, such a record says nothing either.
func (c *conn) records(ctx context.Context, s *schema, keys []string) (map[string]string, error) {
	records := map[string]string{}
	if !s.has("state_meta", "key", "value") {
		return records, nil
	}
	err := inChunks(distinct(keys), func(list string, args []any) error {
		return c.eachRecord(ctx, func(key, value string) {
			if _, twice := records[key]; twice {
				value = ""
			}
			records[key] = value
		}, "WHERE key IN "+list, args...)
	})
	return records, err
}

func (c *conn) eachRecord(ctx context.Context, use func(key, value string), where string, args ...any) error {
	return c.each(ctx, func(scan scanFunc) error {
		var key, value string
		if err := scan(&key, &value); err != nil {
			return err
		}
		use(key, value)
		return nil
	}, recordColumns+where, args...)
}

// eachUnder hands every record whose key begins with a prefix to use, in the order of their keys.
func (c *conn) eachUnder(ctx context.Context, prefix string, use func(key, value string)) error {
	return c.eachRecord(ctx, use, "WHERE key >= ? AND key < ? ORDER BY key", prefix, after(prefix))
}

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
	if !s.has("state_meta", "key", "value") {
		return nil, nil
	}
	// Most fences are for good: they are not even read. One that spells the word with escapes stays.
	err = c.eachRecord(ctx, func(key, value string) {
		if readTombstone(value).agedOut(now) {
			keys = append(keys, key)
		}
	}, "WHERE "+within(prefix)+" AND value GLOB '*expires*' ORDER BY key")
	return keys, err
}

// replaceSessionFences writes over tombstones that are there, by id.
func (c *conn) replaceSessionFences(ctx context.Context, fences map[string]string) error {
	records := map[string]string{}
	for id, value := range fences {
		records[retiredSessionPrefix+id] = value
	}
	return c.putRecords(ctx, records)
}

func (c *conn) removeRecords(ctx context.Context, keys []string) error {
	return inChunks(keys, func(list string, args []any) error {
		_, err := c.ExecContext(ctx, "DELETE FROM state_meta WHERE key IN "+list, args...)
		return err
	})
}

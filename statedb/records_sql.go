package statedb

import (
	"context"
	"strings"
)

// This file holds how records of state_meta are read, written and removed, whatever they say. Only a statement that joins records with
// other tables, or looks into their JSON, stands with what it asks.

// selectRecords gives a record's key and its text. One that is no text says nothing that anyone could read. The plus sign hides
// a declared type from the driver.
const selectRecords = `SELECT +key, CASE WHEN typeof(value) = 'text' THEN value ELSE '' END FROM state_meta `

// within is SQL for the keys that begin with one of our prefixes.
func within(prefix string) string { return "key >= '" + prefix + "' AND key < '" + after(prefix) + "'" }

// after is the end of the range of keys that begin with a prefix. None of ours ends with 0xff.
func after(prefix string) string {
	return prefix[:len(prefix)-1] + string(prefix[len(prefix)-1]+1)
}

// records reads what is there under the keys; a store without state_meta has none. In a table that lets a key stand twice, such a
// record says nothing either.
func (c *conn) records(ctx context.Context, s *schema, keys []string) (map[string]string, error) {
	records := map[string]string{}
	if !s.hasRecords() {
		return records, nil
	}
	err := c.eachUnderKeys(ctx, distinct(keys), func(key, value string) {
		if _, twice := records[key]; twice {
			value = ""
		}
		records[key] = value
	})
	return records, err
}

// eachUnderKeys hands the records that are there under the keys to use, one after the other.
func (c *conn) eachUnderKeys(ctx context.Context, keys []string, use func(key, value string)) error {
	return inChunks(keys, func(list string, args []any) error {
		return c.eachRecord(ctx, use, "WHERE key IN "+list, args...)
	})
}

// eachUnder hands every record whose key begins with a prefix to use, in the order of their keys.
func (c *conn) eachUnder(ctx context.Context, prefix string, use func(key, value string)) error {
	return c.eachRecord(ctx, use, "WHERE "+within(prefix)+" ORDER BY key")
}

// eachUnderThatHolds is eachUnder for the records whose text holds a word, as it stands there; the others are not even read.
func (c *conn) eachUnderThatHolds(ctx context.Context, prefix, word string, use func(key, value string)) error {
	return c.eachRecord(ctx, use, "WHERE "+within(prefix)+" AND value GLOB '*"+word+"*' ORDER BY key")
}

func (c *conn) eachRecord(ctx context.Context, use func(key, value string), where string, args ...any) error {
	return c.each(ctx, func(scan scanFunc) error {
		var key, value string
		if err := scan(&key, &value); err != nil {
			return err
		}
		use(key, value)
		return nil
	}, selectRecords+where, args...)
}

// anyUnder tells whether there is a record whose key begins with one of the prefixes. The store must have state_meta.
func (c *conn) anyUnder(ctx context.Context, prefixes ...string) (bool, error) {
	return c.exists(ctx, "SELECT 1 FROM state_meta WHERE "+withinAny(prefixes))
}

// countUnder counts them.
func (c *conn) countUnder(ctx context.Context, prefixes ...string) (n int, err error) {
	err = c.QueryRowContext(ctx, "SELECT count(*) FROM state_meta WHERE "+withinAny(prefixes)).Scan(&n)
	return n, err
}

func withinAny(prefixes []string) string {
	ranges := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		ranges[i] = within(prefix)
	}
	return strings.Join(ranges, " OR ")
}

// countRecords counts the records that are there under the keys.
func (c *conn) countRecords(ctx context.Context, keys []string) (int, error) {
	return c.countIn(ctx, keys, "SELECT count(*) FROM state_meta WHERE key IN ")
}

// recordsPerStatement bounds the records of one INSERT well below SQLite's limits.
const recordsPerStatement = chunkSize

// putRecords writes records over what is there under their keys. doing is for its error.
func (c *conn) putRecords(ctx context.Context, doing string, records map[string]string) error {
	keys := sortedKeys(records)
	for len(keys) > 0 {
		n := min(len(keys), recordsPerStatement)
		args := make([]any, 0, 2*n)
		for _, key := range keys[:n] {
			args = append(args, key, records[key])
		}
		keys = keys[n:]
		_, err := c.ExecContext(ctx, `INSERT INTO state_meta (key, value) VALUES `+pairs(n)+
			` ON CONFLICT (key) DO UPDATE SET value = excluded.value`, args...)
		if err != nil {
			return classify(doing, err)
		}
	}
	return c.noteRecords(ctx, sortedKeys(records))
}

// addRecord writes a record under a key that nothing is under. doing is for its error.
func (c *conn) addRecord(ctx context.Context, doing, key, value string) error {
	_, err := c.ExecContext(ctx, `INSERT INTO state_meta (key, value) VALUES (?, ?)`, key, value)
	return classify(doing, err)
}

// removeRecords removes what is there under the keys.
func (c *conn) removeRecords(ctx context.Context, keys []string) error {
	return inChunks(keys, func(list string, args []any) error {
		_, err := c.ExecContext(ctx, "DELETE FROM state_meta WHERE key IN "+list, args...)
		return err
	})
}

// pairs is the placeholders of n rows of two values.
func pairs(n int) string { return strings.TrimSuffix(strings.Repeat("(?,?),", n), ",") }

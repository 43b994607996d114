package statedb

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
)

// scanFunc reads the current row.
type scanFunc func(dest ...any) error

// each runs a query and hands every row to use.
func (c *conn) each(ctx context.Context, use func(scanFunc) error, query string, args ...any) error {
	rows, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := use(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exists tells whether a query gives any row.
func (c *conn) exists(ctx context.Context, query string, args ...any) (bool, error) {
	found := false
	err := c.each(ctx, func(scanFunc) error { found = true; return nil }, "SELECT 1 WHERE EXISTS ("+query+")", args...)
	return found, err
}

// chunkSize keeps a statement's parameters, and the rows of a VALUES that a recursion starts from, well below SQLite's
// limits; that of the latter is 500. Ids are bound as they are and never through JSON, which could not spell an id that
// is not UTF-8.
const chunkSize = 400

// inChunks calls do with an IN list of placeholders, and its arguments, for every few hundred of the ids.
func inChunks(ids []string, do func(list string, args []any) error) error {
	for chunk := range slices.Chunk(ids, chunkSize) {
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = id
		}
		list := "(?" + strings.Repeat(",?", len(chunk)-1) + ")"
		if err := do(list, args); err != nil {
			return err
		}
	}
	return nil
}

// rowsOfOne makes the rows of a VALUES from an IN list.
func rowsOfOne(list string) string { return strings.ReplaceAll(strings.Trim(list, "()"), "?", "(?)") }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (c *conn) countIn(ctx context.Context, keys []string, query string) (total int, err error) {
	err = inChunks(keys, func(list string, args []any) error {
		var n int
		err := c.QueryRowContext(ctx, query+list, args...).Scan(&n)
		total += n
		return err
	})
	return total, err
}

// eachCount adds up what a query counts for each name.
func (c *conn) eachCount(ctx context.Context, keys []string, into map[string]int, before, after string) error {
	return inChunks(keys, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var name string
			var n int
			if err := scan(&name, &n); err != nil {
				return err
			}
			into[name] += n
			return nil
		}, before+list+after, args...)
	})
}

// eachText hands every text and blob among the cells of a query's rows to use, with the number that each row begins with.
func (c *conn) eachText(
	ctx context.Context, cells int, use func(row int64, text string) error, query string, args ...any,
) error {
	var row int64
	texts, into := make([]any, cells), []any{&row}
	for i := range texts {
		into = append(into, &texts[i])
	}
	return c.each(ctx, func(scan scanFunc) error {
		if err := scan(into...); err != nil {
			return err
		}
		for _, cell := range texts {
			var err error
			switch text := cell.(type) {
			case string:
				err = use(row, text)
			case []byte:
				err = use(row, string(text))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, query, args...)
}

func optional(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

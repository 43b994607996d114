package statedb

import (
	"context"
	"slices"
)

// This file holds the SQL over routes.

// removeRoutes drops the routes whose namespace and session goes accepts. They are decided about here, as the Agent reads
// them, and are then removed as they were read.
func (c *conn) removeRoutes(ctx context.Context, goes func(namespace, id string) bool) (removed int, err error) {
	var rows []any
	err = c.each(ctx, func(scan scanFunc) error {
		var key, entry any
		if err := scan(&key, &entry); err != nil {
			return err
		}
		keyText, _ := textOf(key)
		entryText, _ := textOf(entry)
		if id := RouteSession(entryText); id != "" && goes(routeNamespace(keyText), id) {
			rows = append(rows, key, entry)
		}
		return nil
	}, `SELECT +session_key, +entry_json FROM gateway_routing`)
	if err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(rows, chunkSize) {
		result, err := c.ExecContext(ctx,
			`DELETE FROM gateway_routing WHERE (session_key, entry_json) IN (VALUES `+pairs(len(chunk)/2)+`)`, chunk...)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		removed += int(n)
	}
	return removed, nil
}

// textOf is a value of SQLite as text, if it is any.
func textOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

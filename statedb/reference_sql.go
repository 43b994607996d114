package statedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"session-sidecar/internal/sqlname"
)

// ownTables are the tables whose references to sessions(id) we settle ourselves, on the path that is taken.
var ownTables = []string{
	"sessions", "messages", "compression_locks", "session_model_usage", "telegram_dm_topic_bindings",
	"session_admissions", "worker_executions",
}

// reference is a foreign key of a table that we do not know to the id of sessions, or of messages.
type reference struct{ table, column, onDelete string }

// stops tells whether a row that holds such a reference would stop the delete. One that cascades or becomes NULL is the
// schema's own answer.
func (r reference) stops() bool { return r.onDelete != "CASCADE" && r.onDelete != "SET NULL" }

// foreignReferences lists those to one table, in the order of the tables' names.
func (c *conn) foreignReferences(ctx context.Context, to string) (references []reference, err error) {
	if c.known != nil {
		if references, known := c.known.references[to]; known {
			return references, nil
		}
		defer func() {
			if err == nil {
				c.known.references[to] = references
			}
		}()
	}
	err = c.each(ctx, func(scan scanFunc) error {
		var r reference
		if err := scan(&r.table, &r.column, &r.onDelete); err != nil {
			return err
		}
		if !slices.Contains(ownTables, sqlname.Fold(r.table)) {
			references = append(references, r)
		}
		return nil
	}, `SELECT t.name, f."from", f.on_delete FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND lower(f."table") = ?
		AND (f."to" IS NULL OR lower(f."to") = 'id') ORDER BY t.name, f.id`, to)
	return references, classify("read the foreign keys", err)
}

// refuseForeignRows is ErrUnsupported, with the table's name, where a table that we do not know holds a reference to one
// of the ids that would stop the delete (contract 3): NO ACTION, RESTRICT or SET DEFAULT. One to a message of an id stops it
// too, in SQLite's own words (contract 4); foresee asks for that where no delete follows that would hear them.
func (c *conn) refuseForeignRows(ctx context.Context, ids []string, foresee bool) error {
	err := c.refuseRowsThatHold(ctx, "sessions", "LIST", ids)
	if err != nil || !foresee {
		return err
	}
	return c.refuseRowsThatHold(ctx, "messages", "(SELECT id FROM messages WHERE session_id IN LIST)", ids)
}

// refuseRowsThatHold does so for references to one table, to the rows of a set.
func (c *conn) refuseRowsThatHold(ctx context.Context, to, set string, ids []string) error {
	references, err := c.foreignReferences(ctx, to)
	if err != nil {
		return err
	}
	for _, r := range references {
		if !r.stops() {
			continue
		}
		err := inChunks(ids, func(list string, args []any) error {
			query := fmt.Sprintf("SELECT 1 FROM %s WHERE %s IN %s", quoted(r.table), quoted(r.column), strings.Replace(set, "LIST", list, 1))
			found, err := c.exists(ctx, query, args...)
			if err == nil && found {
				err = unsupported("the table %s, which this sidecar does not know, holds a row of this conversation", r.table)
			}
			return err
		})
		if err != nil {
			return classify("read the table "+r.table, err)
		}
	}
	return nil
}

// quoted is a name as SQL writes it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

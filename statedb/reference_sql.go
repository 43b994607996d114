package statedb

import (
	"context"
	"fmt"
	"strings"

	"session-sidecar/internal/sqlname"
)

// ownReferences are the columns through which the tables that we know name a session, and whose row is whose: what becomes of these
// rows is settled by us, on the path that is taken.
var ownReferences = map[string]struct{ column, owner string }{
	"sessions":                   {"parent_session_id", "id"},
	"messages":                   {"session_id", "session_id"},
	"compression_locks":          {"session_id", "session_id"},
	"session_model_usage":        {"session_id", "session_id"},
	"telegram_dm_topic_bindings": {"session_id", "session_id"},
	"session_admissions":         {"target_session_id", "target_session_id"},
	"worker_executions":          {"session_id", "session_id"},
}

// reference is a foreign key that we do not know to the id of sessions, or of messages.
type reference struct{ table, column, onDelete string }

// own tells whether we settle what becomes of the rows that hold it.
func (r reference) own() bool {
	own, known := ownReferences[sqlname.Fold(r.table)]
	return known && sqlname.Fold(r.column) == own.column
}

// takesOthers tells whether it takes rows of a table that we know with it, which may be those of another conversation.
func (r reference) takesOthers() bool {
	_, known := ownReferences[sqlname.Fold(r.table)]
	return known && r.onDelete == "CASCADE"
}

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
		if !r.own() {
			references = append(references, r)
		}
		return nil
	}, `SELECT t.name, f."from", f.on_delete FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND lower(f."table") = ?
		AND (f."to" IS NULL OR lower(f."to") = 'id') ORDER BY t.name, f.id`, to)
	return references, classify("read the foreign keys", err)
}

// refuseForeignRows is ErrUnsupported, with the table's name, where a reference that we do not know to one of the ids would stop the
// delete (contract 3): NO ACTION, RESTRICT or SET DEFAULT; or where it would take along what belongs to a session that stays. One to a
// message of an id stops the delete too, in SQLite's own words (contract 4); foresee asks for that where no delete follows that would
// hear them.
func (c *conn) refuseForeignRows(ctx context.Context, ids []string, foresee bool) error {
	if err := c.refuseRowsThatHold(ctx, "sessions", "LIST", ids, true); err != nil {
		return err
	}
	if err := c.refuseRowsThatHold(ctx, "messages", "(SELECT id FROM messages WHERE session_id IN LIST)", ids, foresee); err != nil {
		return err
	}
	return c.refuseCascades(ctx)
}

// refuseRowsThatHold does so for references to one table, to the rows of a set, which LIST stands for or is a part of; stops is whether
// those count that would stop the delete.
func (c *conn) refuseRowsThatHold(ctx context.Context, to, set string, ids []string, stops bool) error {
	references, err := c.foreignReferences(ctx, to)
	if err != nil {
		return err
	}
	going := setOf(ids)
	for _, r := range references {
		if !r.takesOthers() && !(r.stops() && stops) {
			continue
		}
		owner, what := "NULL", "the table %s, which this sidecar does not know, holds a row of this conversation"
		if own, known := ownReferences[sqlname.Fold(r.table)]; known {
			owner, what = own.owner, "a row of another conversation in the table %s refers to this one"
		}
		err := inChunks(ids, func(list string, args []any) error {
			return c.each(ctx, func(scan scanFunc) error {
				var whose any
				if err := scan(&whose); err != nil {
					return err
				}
				if id, text := whose.(string); text && going[id] {
					return nil
				}
				return unsupported(what, r.table)
			}, fmt.Sprintf("SELECT +%s FROM %s WHERE %s IN %s", owner, quoted(r.table), quoted(r.column), strings.Replace(set, "LIST", list, 1)), args...)
		})
		if err != nil {
			return classify("read the table "+r.table, err)
		}
	}
	return nil
}

// refuseCascades is ErrUnsupported where a delete of a session could take rows of others with it by way of a table that we do not
// know, whatever is in it.
func (c *conn) refuseCascades(ctx context.Context) error {
	if c.known != nil && c.known.cascadesSettled {
		return nil
	}
	from := map[string][]string{} // whose rows go with one of a table
	err := c.each(ctx, func(scan scanFunc) error {
		var table, to string
		if err := scan(&table, &to); err != nil {
			return err
		}
		from[to] = append(from[to], table)
		return nil
	}, `SELECT DISTINCT lower(t.name), lower(f."table") FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND f.on_delete = 'CASCADE'`)
	if err != nil {
		return classify("read the foreign keys", err)
	}
	if through := cascadesBack(from); through != "" {
		return unsupported("by the table %s, which this sidecar does not know, a delete could take rows of another conversation", through)
	}
	if c.known != nil {
		c.known.cascadesSettled = true
	}
	return nil
}

// quoted is a name as SQL writes it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

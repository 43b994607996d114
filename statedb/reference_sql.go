package statedb

import (
	"context"
	"fmt"
	"strings"

	"session-sidecar/internal/sqlname"
)

// ownReference is the column through which a table that we know names a session, and the one that tells whose a row is.
type ownReference struct{ column, owner string }

// ownReferences has one for each such table: what becomes of these rows is settled by us, on the path that is taken.
var ownReferences = func() map[string]ownReference {
	own := map[string]ownReference{
		"session_admissions": {"target_session_id", "target_session_id"},
		"worker_executions":  {"session_id", "session_id"},
	}
	for _, t := range hangingTables {
		own[t.name] = ownReference{t.key, t.key}
	}
	own["sessions"] = ownReference{"parent_session_id", "id"}
	return own
}()

// reference is a foreign key that we do not know to the id of sessions, or of messages.
type reference struct{ table, column, onDelete string }

// own tells whether we settle what becomes of the rows that hold it.
func (r reference) own() bool {
	own, known := ownReferences[sqlname.Fold(r.table)]
	return known && sqlname.Fold(r.column) == own.column
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
// message of an id stops the delete too, in SQLite's own words (contract 4); ofMessages asks for that where no delete follows that would
// hear them.
func (c *conn) refuseForeignRows(ctx context.Context, ids []string, ofMessages bool) error {
	if err := c.refuseRowsThatStop(ctx, "sessions", "LIST", ids); err != nil {
		return err
	}
	if ofMessages {
		if err := c.refuseRowsThatStop(ctx, "messages", "(SELECT id FROM messages WHERE session_id IN LIST)", ids); err != nil {
			return err
		}
	}
	return c.refuseRowsOfOthers(ctx, ids)
}

// refuseRowsThatStop does so for references to one table, to the rows of a set, which LIST stands for or is a part of.
func (c *conn) refuseRowsThatStop(ctx context.Context, to, set string, ids []string) error {
	references, err := c.foreignReferences(ctx, to)
	if err != nil {
		return err
	}
	for _, r := range references {
		if !r.stops() {
			continue
		}
		owner, what := "NULL", "the table %s, which this sidecar does not know, holds a row of this conversation"
		if own, known := ownReferences[sqlname.Fold(r.table)]; known {
			owner, what = own.owner, "a row of another conversation in the table %s refers to this one"
		}
		if err := c.refuseRowsNotGoing(ctx, ids, owner, r.table, r.column, set, what); err != nil {
			return err
		}
	}
	return nil
}

// refuseRowsOfOthers does so for rows that would go by cascades, by way of whatever tables.
func (c *conn) refuseRowsOfOthers(ctx context.Context, ids []string) error {
	paths, err := c.cascades(ctx)
	if err != nil {
		return err
	}
	for _, path := range paths {
		set := "LIST"
		for i, step := range path {
			where := quoted(step.to) + " WHERE "
			if i == 0 {
				where += ownReferences[sqlname.Fold(path.from())].owner + " IN LIST"
			} else {
				where += quoted(path[i-1].column) + " IN " + set
			}
			set = "(SELECT " + quoted(step.toColumn) + " FROM " + where + ")"
		}
		last := path.last()
		err := c.refuseRowsNotGoing(ctx, ids, ownReferences[sqlname.Fold(last.table)].owner, last.table, last.column, set,
			"the table %s would lose a row of another conversation")
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseRowsNotGoing is ErrUnsupported where a row of a table has a value of a set in a column, and does not belong to one of the ids.
func (c *conn) refuseRowsNotGoing(ctx context.Context, ids []string, owner, table, column, set, what string) error {
	going := setOf(ids)
	return classify("read the table "+table, inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var whose any
			if err := scan(&whose); err != nil {
				return err
			}
			if id, text := whose.(string); text && going[id] {
				return nil
			}
			return unsupported(what, table)
		}, fmt.Sprintf("SELECT +%s FROM %s WHERE %s IN %s", owner, quoted(table), quoted(column), strings.ReplaceAll(set, "LIST", list)), args...)
	}))
}

// cascades are the ways in which rows of the tables that we know could go with others. It is ErrUnsupported where one of them cannot be
// followed: then no delete is safe, whatever is in the store.
func (c *conn) cascades(ctx context.Context) (paths []cascadePath, err error) {
	if c.known != nil && c.known.cascades != nil {
		return *c.known.cascades, nil
	}
	var all []cascade
	err = c.each(ctx, func(scan scanFunc) error {
		var one cascade
		var toColumn *string
		if err := scan(&one.table, &one.column, &one.to, &toColumn, &one.whole); err != nil {
			return err
		}
		if toColumn != nil {
			one.toColumn = *toColumn
		} else {
			one.whole = false
		}
		all = append(all, one)
		return nil
	}, `SELECT t.name, f."from", f."table",
			coalesce(f."to", (SELECT name FROM pragma_table_info(f."table") WHERE pk = 1)),
			f.seq = 0 AND NOT EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name) other WHERE other.id = f.id AND other.seq > 0)
		FROM sqlite_schema t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND f.on_delete = 'CASCADE' ORDER BY t.name, f.id, f.seq`)
	if err != nil {
		return nil, classify("read the foreign keys", err)
	}
	paths, through := cascadePaths(all)
	if through != "" {
		return nil, unsupported("by the table %s, which this sidecar does not know, a delete could take rows of another conversation", through)
	}
	if c.known != nil {
		c.known.cascades = &paths
	}
	return paths, nil
}

// quoted is a name as SQL writes it.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

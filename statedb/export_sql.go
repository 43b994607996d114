package statedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"session-sidecar/internal/sqlname"
)

// This file holds the SQL that chooses and reads what an export writes; export_canonical_sql.go has what is more on the canonical path.

// columnsOf lists a table's columns as they are spelled, in their order.
func (c *conn) columnsOf(ctx context.Context, table string) (columns []string, err error) {
	err = c.each(ctx, func(scan scanFunc) error {
		var column string
		if err := scan(&column); err != nil {
			return err
		}
		columns = append(columns, column)
		return nil
	}, `SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid`, table)
	return columns, classify("read the columns of "+table, err)
}

// asStored is SQL for columns whose values come as they are stored.
func asStored(columns []string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = "+" + quoted(column)
	}
	return strings.Join(list, ", ")
}

// eachRow hands every row of a table for which a condition holds with one of the values to use, in the order of the values, then of
// the column order, or of all columns where there is none of that name. No value is converted: the plus sign hides what a
// column is declared as, which the driver would otherwise obey.
func (c *conn) eachRow(
	ctx context.Context, table string, columns []string, condition string, values []any, order string, use func([]any) error,
) error {
	by := asStored(columns)
	if slices.ContainsFunc(columns, func(column string) bool { return sqlname.Same(column, order) }) {
		by = quoted(order)
	}
	query := "SELECT " + asStored(columns) + " FROM " + quoted(table) + " WHERE " + condition + " ORDER BY " + by
	cells := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for _, value := range values {
		err := c.each(ctx, func(scan scanFunc) error {
			if err := scan(into...); err != nil {
				return err
			}
			return use(cells)
		}, query, value)
		if err != nil {
			return err
		}
	}
	return nil
}

// promptsOf lists the keys of the system prompts that the sessions use, sorted.
func (c *conn) promptsOf(ctx context.Context, ids []string) ([]string, error) {
	hashes := map[string]bool{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var hash string
			if err := scan(&hash); err != nil {
				return err
			}
			hashes[hash] = true
			return nil
		}, `SELECT +system_prompt_hash FROM sessions WHERE system_prompt_hash IS NOT NULL AND id IN `+list, args...)
	})
	return sortedKeys(hashes), classify("read which system prompts are used", err)
}

// selection is what is written of a table. Each pick's rows are in the order of its values, then of the column order, or of all
// columns where there is none of that name.
type selection struct {
	table, order string
	picks        []pick
}

// pick selects the rows for which a condition holds with one of the values.
type pick struct {
	condition string
	values    []any
}

// selectGoing selects the rows that a delete of a plan removes, or writes anew, each table once and in the order in which they are
// written.
func (c *conn) selectGoing(ctx context.Context, plan *Plan) ([]selection, error) {
	selections := withSession(plan)
	if plan.Path == PathCanonical {
		more, err := ofLedger(plan)
		if err != nil {
			return nil, err
		}
		selections = append(selections, more...)
	}
	more, err := c.cascading(ctx, plan, selections)
	if err != nil {
		return nil, err
	}
	selections = append(selections, more...)
	if plan.schema.has(promptsTable, "hash") && plan.schema.has("sessions", "system_prompt_hash") {
		hashes, err := c.promptsOf(ctx, plan.IDs())
		if err != nil {
			return nil, err
		}
		selections = append(selections, selection{promptsTable, "", []pick{{"hash = ?", values(hashes)}}})
	}
	return selections, nil
}

// cascading selects the rows of tables that we do not know which go too, since their references cascade, but for tables that are among
// the known ones.
func (c *conn) cascading(ctx context.Context, plan *Plan, known []selection) (selections []selection, err error) {
	selected := map[string]bool{}
	for _, s := range known {
		selected[s.table] = true
	}
	for _, to := range []struct{ table, condition string }{
		{"sessions", "%s = ?"},
		{"messages", "%s IN (SELECT id FROM messages WHERE session_id = ?)"},
	} {
		references, err := c.foreignReferences(ctx, to.table)
		if err != nil {
			return nil, err
		}
		for _, r := range references {
			if r.onDelete != "CASCADE" || selected[r.table] {
				continue
			}
			selected[r.table] = true
			selections = append(selections, selection{r.table, "", []pick{{fmt.Sprintf(to.condition, quoted(r.column)), values(plan.IDs())}}})
		}
	}
	return selections, nil
}

// withSession selects the rows that hang on the sessions of a plan, of the tables that the store has.
func withSession(plan *Plan) (selections []selection) {
	for _, t := range plan.schema.hanging(hangingTables) {
		selections = append(selections, selection{t.name, t.order, []pick{{quoted(t.key) + " = ?", values(plan.IDs())}}})
	}
	return selections
}

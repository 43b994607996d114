package statedb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"session-sidecar/internal/sqlname"
)

// This file fits copied rows to what the store holds by now: what they refer to may be gone, and their title taken. What is changed is
// told (Returned.Changed).

// restoredReference is a column that names a row of another table.
type restoredReference struct {
	column, table, to string
	byNumber          bool // to is a number that the store gives anew to what comes back
}

// references reads what the columns of a table name, other than what a restore maps by itself. One of several columns is left to the
// store.
func (r *Restore) references(ctx context.Context, table string) (list []restoredReference, err error) {
	err = r.tx.conn.each(ctx, func(scan scanFunc) error {
		var ref restoredReference
		if err := scan(&ref.column, &ref.table, &ref.to, &ref.byNumber); err != nil {
			return err
		}
		if column := sqlname.Fold(ref.column); column != "session_id" && column != "parent_session_id" {
			list = append(list, ref)
		}
		return nil
	}, `SELECT k."from", k."table", coalesce(k."to", p.name), p.type LIKE '%INT%'
		FROM (SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) GROUP BY id HAVING count(*) = 1) k
		JOIN pragma_table_xinfo(k."table") p ON CASE WHEN k."to" IS NULL THEN p.pk = 1 ELSE p.name = k."to" COLLATE NOCASE END
		ORDER BY 1, 2`, table)
	return list, err
}

// withoutLost takes out of a row what names nothing any more: the store takes no reference to nothing. What names a session that comes
// back names it under its new id; what names a row by a number that comes back under another one would name a stranger.
func (r *Restore) withoutLost(ctx context.Context, table string, into *restoredTable, cells map[string]any) error {
	for _, ref := range into.references {
		column := sqlname.Fold(ref.column)
		name, value, _ := sqlname.Find(cells, column)
		if value == nil {
			continue
		}
		to := any(nil)
		named, isText := value.(string)
		switch {
		case isText && sqlname.Same(ref.table, "sessions") && sqlname.Same(ref.to, "id") && r.renamed[named] != "":
			to = r.renamed[named]
		case ref.byNumber && r.comesBack(ref.table):
		default:
			var there bool
			query := "SELECT EXISTS (SELECT 1 FROM " + quoted(ref.table) + " WHERE " + quoted(ref.to) + " = ?)"
			if err := r.tx.conn.QueryRowContext(ctx, query, value).Scan(&there); err != nil {
				return err
			}
			if there {
				continue
			}
		}
		if to == nil {
			if into.columns[column].required {
				return unsupported("what %s.%s names in %s is gone", table, ref.column, ref.table)
			}
			r.changed[table+"."+ref.column] = true
		}
		cells[name] = to
	}
	return nil
}

// comesBack tells whether rows of a table get new numbers in a restore.
func (r *Restore) comesBack(table string) bool {
	t, hangs := hangingNamed(table)
	return hangs && t.copied && t.name != "sessions"
}

// titlesToTry is how many numbers a taken title is tried with.
const titlesToTry = 1000

// isTitleTaken tells whether a row was not taken because another session has its title: the Agents of some stores want each once.
func isTitleTaken(err error) bool {
	_, extended, ok := resultCodes(err)
	return ok && extended == codeUnique && strings.HasSuffix(sqlname.Fold(err.Error()), ": sessions.title")
}

// underAnotherTitle inserts a session whose title is taken under the next free one: "title #2".
func (r *Restore) underAnotherTitle(ctx context.Context, statement string, names []string, args []any) error {
	at := slices.IndexFunc(names, func(name string) bool { return sqlname.Same(name, quoted("title")) })
	title, is := "", false
	if at >= 0 {
		title, is = args[at].(string)
	}
	if !is {
		return unsupported("the store requires a title that no other session has")
	}
	for n := 2; n < titlesToTry; n++ {
		args[at] = fmt.Sprintf("%s #%d", title, n)
		_, err := r.tx.conn.ExecContext(ctx, statement, args...)
		if isTitleTaken(err) {
			continue
		}
		r.changed["sessions.title"] = true
		return err
	}
	return unsupported("the title of the conversation is taken, and so are the next %d", titlesToTry-2)
}

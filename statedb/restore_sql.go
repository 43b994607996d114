package statedb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"session-sidecar/internal/faultpoint"
)

// This file holds all SQL that puts kept rows back.

// ErrNotKept says that a kept row cannot be one: it names no session of its entry. The entry is damaged.
var ErrNotKept = errors.New("a kept row does not belong to what was deleted")

// Restore puts the rows of a kept delete back, under new ids, inside a write transaction. Any error means that the transaction must be
// rolled back whole.
type Restore struct {
	tx      *Tx
	schema  *schema
	renamed map[string]string // old id -> new one, of all that comes back
	back    map[string]string // likewise, of the rows that are back
	tables  map[string]*restoredTable
	dropped map[string]bool
	changed map[string]bool

	StaleIndexes []string // full-text indexes that the Agent has to rebuild
}

// restoredTable is a table of the store that takes rows.
type restoredTable struct {
	columns    map[string]restoredColumn // by their names in lower case
	references []keptReference
	rows       int
}

type restoredColumn struct {
	name     string
	required bool // NOT NULL without a default
	own      bool // the store gives it by itself: a generated column, or a rowid
}

// ErrRestored says that the conversation is back already.
var ErrRestored = errors.New("the conversation has been restored already")

// Restore begins to put rows back. renamed says which new id each of the sessions gets whose row comes back. A store that no delete
// would be made in is refused as there; where one of the new ids is there already, or was and is fenced, ErrRestored.
func (t *Tx) Restore(ctx context.Context, agent Agent, renamed map[string]string) (*Restore, error) {
	s, err := t.conn.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := choosePath(s, agent); err != nil {
		return nil, err
	}
	r := &Restore{tx: t, schema: s, renamed: renamed, back: map[string]string{}, tables: map[string]*restoredTable{}}
	r.dropped, r.changed = map[string]bool{}, map[string]bool{}
	live, err := t.conn.liveAmong(ctx, mapped(renamed))
	if err != nil {
		return nil, classify("look for the restored ids", err)
	}
	fences, err := t.conn.sessionFences(ctx, s, mapped(renamed))
	if err != nil {
		return nil, classify("look for the restored ids", err)
	}
	if len(live)+len(fences) > 0 { // back, or deleted again since
		return nil, ErrRestored
	}
	if r.StaleIndexes, err = t.conn.indexesToSetAside(ctx, s); err != nil {
		return nil, err
	}
	if err := t.conn.setAsideIndexes(ctx, r.StaleIndexes); err != nil {
		return nil, err
	}
	// A row may come before the one that it refers to.
	_, err = t.conn.ExecContext(ctx, "PRAGMA defer_foreign_keys = ON")
	return r, classify("restore", err)
}

func mapped(renamed map[string]string) (ids []string) {
	for _, old := range sortedKeys(renamed) {
		ids = append(ids, renamed[old])
	}
	return ids
}

// Add puts one row back. Sessions come before what hangs on them.
func (r *Restore) Add(ctx context.Context, table string, cells map[string]any) error {
	switch table {
	case "sessions":
		id, _ := cellOf(cells, "id").(string)
		if r.renamed[id] == "" || r.back[id] != "" {
			return fmt.Errorf("%w: sessions", ErrNotKept)
		}
		r.back[id] = r.renamed[id]
		cells = restoredSession(cells, r.renamed)
	case "messages", "session_model_usage":
		id, _ := cellOf(cells, "session_id").(string)
		if r.back[id] == "" {
			return fmt.Errorf("%w: %s", ErrNotKept, table)
		}
		row := map[string]any{}
		for column, value := range cells {
			if strings.EqualFold(column, "session_id") {
				value = r.back[id]
			}
			row[column] = value
		}
		cells = row
	}
	return classify("restore a row of "+table, r.insert(ctx, table, cells))
}

func (r *Restore) insert(ctx context.Context, table string, cells map[string]any) error {
	into, err := r.table(ctx, table)
	if err != nil || into == nil {
		return err
	}
	names, args := []string{}, []any{}
	if err := r.withoutLost(ctx, table, into, cells); err != nil {
		return err
	}
	given := map[string]bool{}
	for _, column := range sortedKeys(cells) {
		folded := strings.ToLower(column)
		c, there := into.columns[folded]
		if !there {
			r.dropped[table+"."+column] = true
			continue
		}
		if c.own {
			continue
		}
		given[folded] = true
		names, args = append(names, quoted(c.name)), append(args, cells[column])
	}
	for _, folded := range sortedKeys(into.columns) {
		c := into.columns[folded]
		if given[folded] || !c.required {
			continue
		}
		switch {
		case table == "sessions" && slices.Contains(routingColumns, folded):
			names, args = append(names, quoted(c.name)), append(args, "")
		case table == "sessions" && isRuntimeCounter(folded):
			names, args = append(names, quoted(c.name)), append(args, int64(0))
		default:
			return unsupported("the store now requires %s.%s, which the kept rows do not have", table, c.name)
		}
	}
	verb := "INSERT INTO "
	if table == "system_prompts" {
		verb = "INSERT OR IGNORE INTO " // one of the same hash is the same
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(names)), ",")
	statement := verb + quoted(table) + " (" + strings.Join(names, ", ") + ") VALUES (" + marks + ")"
	_, err = r.tx.conn.ExecContext(ctx, statement, args...)
	if table == "sessions" && isTitleTaken(err) {
		err = r.underAnotherTitle(ctx, statement, names, args)
	}
	into.rows++
	return err
}

// table reads what a table of the store takes, once; nil where the store has none of that name.
func (r *Restore) table(ctx context.Context, name string) (*restoredTable, error) {
	if !r.schema.has(name) {
		r.dropped[name] = true
		return nil, nil
	}
	if r.tables[name] != nil {
		return r.tables[name], nil
	}
	t := &restoredTable{columns: map[string]restoredColumn{}}
	err := r.tx.conn.each(ctx, func(scan scanFunc) error {
		var column, declared string
		var notNull, hasDefault, hidden, key bool
		if err := scan(&column, &declared, &notNull, &hasDefault, &hidden, &key); err != nil {
			return err
		}
		// SQLite gives a rowid by itself; those of old messages may be others' by now.
		rowid := key && strings.EqualFold(declared, "INTEGER")
		t.columns[strings.ToLower(column)] = restoredColumn{column, notNull && !hasDefault && !rowid && !hidden, rowid || hidden}
		return nil
	}, `SELECT name, coalesce(type, ''), "notnull", dflt_value IS NOT NULL, hidden <> 0,
		pk > 0 AND (SELECT count(*) FROM pragma_table_xinfo(?1) WHERE pk > 0) = 1 FROM pragma_table_xinfo(?1)`, name)
	if err == nil {
		t.references, err = r.references(ctx, name)
	}
	r.tables[name] = t
	return t, err
}

// Returned is what came back, and how.
type Returned struct {
	IDs     map[string]string // old id -> new one
	Dropped []string          // columns, as table.column, and tables that the store has no more
	Changed []string          // columns, likewise, of which a value could not come back as it was
}

// Finish proves that the rows are there, and tells which.
func (r *Restore) Finish(ctx context.Context) (*Returned, error) {
	ids := mapped(r.back)
	var sessions, messages int
	err := inChunks(ids, func(list string, args []any) error {
		var s, m int
		query := "SELECT (SELECT count(*) FROM sessions WHERE id IN " + list + "), (SELECT count(*) FROM messages WHERE session_id IN " + list + ")"
		err := r.tx.conn.QueryRowContext(ctx, query, append(slices.Clone(args), args...)...).Scan(&s, &m)
		sessions, messages = sessions+s, messages+m
		return err
	})
	if err != nil {
		return nil, classify("look at the restored rows", err)
	}
	want := 0
	if t := r.tables["messages"]; t != nil {
		want = t.rows
	}
	if sessions != len(ids) || messages != want {
		return nil, unsupported("a trigger of the store keeps rows from coming back")
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: no session", ErrNotKept)
	}
	faultpoint.Hit(faultpoint.RestoreFilled)
	return &Returned{IDs: r.back, Dropped: sortedKeys(r.dropped), Changed: sortedKeys(r.changed)}, nil
}

package statedb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sqlname"
)

// This file holds the SQL that puts copied rows back.

// ErrNotKept says that a row of an entry is none of the copy that was made: it names no session of it. The entry is damaged.
var ErrNotKept = errors.New("a kept row does not belong to what was deleted")

// Restore puts the rows of a kept delete back, under new ids, inside a write transaction. Any error means that the transaction must be
// rolled back whole.
type Restore struct {
	tx      *Tx
	schema  *schema
	renamed map[string]string // old id -> new one, of all that comes back
	back    map[string]string // likewise, of the rows that are back
	tables  map[string]*restoredTable
	prompts []any // hashes of those that came back, or were there
	dropped map[string]bool
	changed map[string]bool

	StaleIndexes []string // full-text indexes that the Agent has to rebuild
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

// Add puts one row back. Sessions come before what hangs on them, and the prompts that they use before them. No error tells what is in
// the row.
func (r *Restore) Add(ctx context.Context, table string, cells map[string]any) error {
	switch table {
	case promptsTable:
		hash := cellOf(cells, "hash")
		if hash == nil {
			return fmt.Errorf("%w: %s", ErrNotKept, table)
		}
		if there, err := r.hasPrompt(ctx, hash); err != nil || there { // one of the same hash is the same
			return err
		}
	case "sessions":
		id, is := cellOf(cells, "id").(string)
		if !is || r.renamed[id] == "" || r.back[id] != "" {
			return fmt.Errorf("%w: %s", ErrNotKept, table)
		}
		r.back[id] = r.renamed[id]
		cells = restoredSession(cells, r.renamed)
	default:
		column, value, _ := sqlname.Find(cells, keyOf(table))
		id, is := value.(string)
		if !is || r.back[id] == "" {
			return fmt.Errorf("%w: %s", ErrNotKept, table)
		}
		cells = maps.Clone(cells)
		cells[column] = r.back[id]
	}
	return withoutText("restore a row of "+table, r.insert(ctx, table, cells))
}

// hasPrompt tells whether the store has a prompt of that hash, which the restore relies on from then on.
func (r *Restore) hasPrompt(ctx context.Context, hash any) (there bool, err error) {
	if !r.schema.has(promptsTable, "hash") {
		return false, nil
	}
	r.prompts = append(r.prompts, hash)
	return r.tx.conn.hasPrompt(ctx, hash)
}

func (c *conn) hasPrompt(ctx context.Context, hash any) (there bool, err error) {
	err = c.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM system_prompts WHERE hash = ?)", hash).Scan(&there)
	return there, withoutText("look for a system prompt", err)
}

func (r *Restore) insert(ctx context.Context, table string, cells map[string]any) error {
	into, err := r.table(ctx, table)
	if err != nil || into == nil {
		return err
	}
	if err := r.withoutLost(ctx, table, into, cells); err != nil {
		return err
	}
	row, err := into.fit(table, cells)
	if err != nil {
		return err
	}
	for _, column := range row.dropped {
		r.dropped[table+"."+column] = true
	}
	verb := "INSERT INTO "
	if into.conflicts {
		// No row of the store goes, and none is skipped, for one that comes back. Elsewhere this would change what the store's own
		// triggers do: SQLite takes it for theirs too.
		verb = "INSERT OR ABORT INTO "
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(row.names)), ",")
	statement := verb + quoted(table) + " (" + strings.Join(row.names, ", ") + ") VALUES (" + marks + ")"
	_, err = r.tx.conn.ExecContext(ctx, statement, row.values...)
	if table == "sessions" && isTitleTaken(err) {
		err = r.underAnotherTitle(ctx, statement, row.names, row.values)
	}
	into.rows++
	return err
}

// table reads what a table of the store takes, once; nil where the store has none of that name.
func (r *Restore) table(ctx context.Context, name string) (*restoredTable, error) {
	if !r.schema.has(name, keyOf(name)) {
		r.dropped[name] = true
		return nil, nil
	}
	if r.tables[name] != nil {
		return r.tables[name], nil
	}
	t := &restoredTable{columns: map[string]restoredColumn{}}
	t.conflicts = strings.Contains(sqlname.Fold(r.schema.create[name]), "conflict")
	numbers := "" // the column that numbers the rows, a rowid or not
	err := r.tx.conn.each(ctx, func(scan scanFunc) error {
		var column, declared string
		var notNull, hasDefault, hidden, several, isRowid bool
		if err := scan(&column, &declared, &notNull, &hasDefault, &hidden, &several, &isRowid); err != nil {
			return err
		}
		// SQLite gives a rowid by itself; those of old messages may be others' by now.
		folded := sqlname.Fold(column)
		isRowid = isRowid && sqlname.Same(declared, "INTEGER") && folded != keyOf(name) // by which it is found
		t.columns[folded] = restoredColumn{column, notNull && !hasDefault && !isRowid && !hidden, isRowid || hidden}
		if name == "messages" && (isRowid || numbers == "" && folded == "id" && !several && !hidden && hasIntegers(declared)) {
			numbers, t.numbered = column, !isRowid
		}
		return nil
	}, `SELECT name, coalesce(type, ''), "notnull", dflt_value IS NOT NULL, hidden <> 0, pk > 0 AND keys > 1,
		pk > 0 AND keys = 1 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')
		FROM pragma_table_xinfo(?1), (SELECT count(*) AS keys FROM pragma_table_xinfo(?1) WHERE pk > 0)`, name)
	if err == nil && numbers != "" {
		t.number, err = r.lastNumber(ctx, name, numbers)
	}
	if err == nil {
		t.references, err = r.references(ctx, name)
	}
	r.tables[name] = t
	return t, err
}

// numbersLeft is how many numbers there must be for more rows: when SQLite has come to the last one it gives any, and messages would
// lose their order.
const numbersLeft = 1 << 32

// lastNumber is the greatest number of a table's rows.
func (r *Restore) lastNumber(ctx context.Context, table, column string) (last int64, err error) {
	query := "SELECT coalesce(max(" + quoted(column) + "), 0) FROM " + quoted(table) + " WHERE typeof(" + quoted(column) + ") = 'integer'"
	if err := r.tx.conn.QueryRowContext(ctx, query).Scan(&last); err != nil {
		return 0, err
	}
	if last > math.MaxInt64-numbersLeft {
		return 0, unsupported("the store has no numbers left for rows of %s", table)
	}
	return max(last, 0), nil
}

// Returned is what came back, and how.
type Returned struct {
	IDs     map[string]string // old id -> new one
	Dropped []string          // columns, as table.column, and tables that the store has no more
	Changed []string          // columns, likewise, of which a value could not come back as it was
}

// Finish proves that the rows are there, and tells which.
func (r *Restore) Finish(ctx context.Context) (*Returned, error) {
	if len(r.back) == 0 {
		return nil, fmt.Errorf("%w: no session", ErrNotKept)
	}
	for _, name := range CopiedTables() {
		into := r.tables[name]
		if into == nil || name == promptsTable { // they are looked for below
			continue
		}
		there := 0
		err := inChunks(mapped(r.back), func(list string, args []any) error {
			n := 0
			query := "SELECT count(*) FROM " + quoted(name) + " WHERE " + quoted(keyOf(name)) + " IN " + list
			err := r.tx.conn.QueryRowContext(ctx, query, args...).Scan(&n)
			there += n
			return err
		})
		if err != nil {
			return nil, withoutText("look at the restored rows", err)
		}
		if there != into.rows {
			return nil, unsupported("a trigger of the store keeps rows of %s from coming back", name)
		}
	}
	for _, hash := range r.prompts {
		there, err := r.tx.conn.hasPrompt(ctx, hash)
		if err != nil {
			return nil, err
		}
		if !there {
			return nil, unsupported("a trigger of the store keeps rows of system_prompts from coming back")
		}
	}
	faultpoint.Hit(faultpoint.RestoreFilled)
	return &Returned{IDs: r.back, Dropped: sortedKeys(r.dropped), Changed: sortedKeys(r.changed)}, nil
}

// LeaveUnfenced takes back the tombstones that the removal of a plan has written for ids which had neither row nor tombstone before, and
// which only a restore gives: it would find its way barred.
func (t *Tx) LeaveUnfenced(ctx context.Context, plan *Plan, ids []string) error {
	if plan.Path != PathCanonical || len(ids) == 0 {
		return nil
	}
	return onPath(plan.Path, classify("leave ids unfenced", t.conn.removeRecords(ctx, prefixed(retiredSessionPrefix, ids))))
}

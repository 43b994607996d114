package statedb

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"

	"session-sidecar/internal/sqlname"
)

// A delete that can be taken back for a while copies its rows before it takes the write lock, and proves under it that they are still what
// goes (contract 10.1). This file holds the copy; restore.go has the way back.

// ErrNoCopy says that a row which goes could not come back: SQLite finds it by an id that it does not hold letter by letter, or finds two
// of one session. It is one conversation's fault, and not the store's.
var ErrNoCopy = errors.New("a row of this conversation cannot be kept")

// Copy tells what was copied of a plan: its ids, and a sum over its rows as they were, by which the copy is proved under the write lock.
type Copy struct {
	ids   []string
	proof [sha256.Size]byte
}

// PlanCopy decides, from the snapshot, what a delete would take, and describes it. Errors are as those of Tx.Plan; a plan that may
// not be carried out has its Refusal.
func (l *Look) PlanCopy(ctx context.Context, request Request) (*Plan, error) {
	plan, err := l.conn.plan(ctx, request, toRemove)
	if err != nil {
		return nil, err
	}
	return plan, l.conn.describe(ctx, plan)
}

// Copy writes the rows of a plan from the snapshot, as WriteRows of a transaction does.
func (l *Look) Copy(ctx context.Context, plan *Plan, out io.Writer) (*Copy, error) {
	proof, err := l.conn.proof(ctx, plan.schema, plan.IDs())
	if err != nil {
		return nil, err
	}
	return &Copy{ids: plan.IDs(), proof: proof}, l.conn.copyRows(ctx, plan, out)
}

// Holds tells whether a copy is still one of what the plan takes: the same rows of sessions, of their use of models and of their
// prompts, the same message ids.
func (t *Tx) Holds(ctx context.Context, plan *Plan, copied *Copy) (bool, error) {
	if copied == nil || !plan.is(copied.ids) {
		return false, nil
	}
	proof, err := t.conn.proof(ctx, plan.schema, plan.IDs())
	return proof == copied.proof, onPath(plan.Path, err)
}

// WriteRows writes the rows of a plan under the write lock, a line of JSON each: {"table":…,"row":{…}}. Values are spelled as in an
// export. Memory holds one row.
func (t *Tx) WriteRows(ctx context.Context, plan *Plan, out io.Writer) error {
	return onPath(plan.Path, t.conn.copyRows(ctx, plan, out))
}

// line writes one row.
func (d document) line(table string, columns []string, cells []any) {
	d.raw(`{"table":`)
	d.text(table)
	d.raw(`,"row":`)
	d.object(columns, cells)
	d.raw("}\n")
}

// copyRows writes the tables in the order in which a restore needs them. A message whose session has no row could not come back, and is
// not copied. A row that is copied and could not come back is ErrNoCopy.
func (c *conn) copyRows(ctx context.Context, plan *Plan, to io.Writer) error {
	out := document{out: bufio.NewWriterSize(to, 64<<10)}
	err := c.eachCopied(ctx, plan, false, func(table string, columns []string, cells []any) error {
		out.line(table, columns, cells)
		return out.failed()
	})
	if err != nil {
		return err
	}
	return out.out.Flush()
}

// eachCopied hands every row that a copy holds to use, or its key alone, and holds it to what whoever reads the copy demands.
func (c *conn) eachCopied(
	ctx context.Context, plan *Plan, keysAlone bool, use func(table string, columns []string, cells []any) error,
) error {
	live, err := c.liveAmong(ctx, plan.IDs())
	if err != nil {
		return classify("look for the sessions to copy", err)
	}
	ids := slices.DeleteFunc(plan.IDs(), func(id string) bool { return !live[id] })
	members := copyMembers{of: setOf(ids), there: map[string]bool{}}
	for _, t := range plan.schema.copiedTables() {
		prompts := t.name == promptsTable
		columns := []string{t.key}
		switch {
		case prompts && keysAlone:
			continue
		case keysAlone:
			t.order = t.key
		default:
			if columns, err = c.columnsOf(ctx, t.name); err != nil {
				return err
			}
		}
		key := slices.IndexFunc(columns, func(column string) bool { return sqlname.Same(column, t.key) })
		err = c.eachRowToCopy(ctx, t, columns, ids, func(cells []any) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !prompts {
				if err := members.check(t.name, cells[key]); err != nil {
					return err
				}
			}
			return use(t.name, columns, cells)
		})
		if err != nil {
			return classify("copy the table "+t.name, err)
		}
	}
	if len(members.there) == 0 {
		return &Error{Kind: ErrNoCopy, Detail: "none of its sessions has a row"}
	}
	return nil
}

// copyMembers are the sessions of a copy, and those whose rows it has so far.
type copyMembers struct{ of, there map[string]bool }

// check tells whether a row belongs to a session of the copy, letter by letter, whose own row came before, once.
func (m copyMembers) check(table string, key any) error {
	id, isText := key.(string)
	if !isText || !m.of[id] {
		return &Error{Kind: ErrNoCopy, Detail: "a row of " + table + " holds the id of its session in another way than as it is asked for"}
	}
	if table != "sessions" {
		return nil
	}
	if m.there[id] {
		return &Error{Kind: ErrNoCopy, Detail: "the store has a session twice"}
	}
	m.there[id] = true
	return nil
}

// proof sums up what copyRows writes; of the messages only their ids.
func (c *conn) proof(ctx context.Context, s *schema, ids []string) (proof [sha256.Size]byte, err error) {
	sum := sha256.New()
	out := document{out: bufio.NewWriter(sum)}
	for _, t := range s.copiedTables() {
		columns, err := c.columnsOf(ctx, t.name)
		if err != nil {
			return proof, err
		}
		if t.name == "messages" {
			columns = []string{"id"}
			if !s.has("messages", "id") {
				columns = []string{"rowid"}
				if !s.hasRowid("messages") {
					if columns, err = c.columnsOf(ctx, "messages"); err != nil {
						return proof, err
					}
				}
			}
			t.order = columns[0]
		}
		err = c.eachRowToCopy(ctx, t, columns, ids, func(cells []any) error {
			out.line(t.name, columns, cells)
			return ctx.Err()
		})
		if err != nil {
			return proof, classify("sum up what goes", err)
		}
	}
	if err := out.out.Flush(); err != nil {
		return proof, err
	}
	copy(proof[:], sum.Sum(nil))
	return proof, nil
}

// copiedTables are those that the store has, in the order in which a restore needs them. Of the prompts those that the sessions use.
func (s *schema) copiedTables() (tables []hangingTable) {
	if s.has(promptsTable, "hash") && s.has("sessions", "system_prompt_hash") {
		tables = append(tables, hangingTable{name: promptsTable, key: "hash"})
	}
	for _, t := range s.hanging(hangingTables) {
		if t.copied {
			tables = append(tables, t)
		}
	}
	return tables
}

// eachRowToCopy hands every row of a table that is copied to use.
func (c *conn) eachRowToCopy(ctx context.Context, t hangingTable, columns, ids []string, use func([]any) error) error {
	keys, err := c.keysToCopy(ctx, t, ids)
	if err != nil {
		return err
	}
	return c.eachRow(ctx, t.name, columns, quoted(t.key)+" = ?", values(keys), t.order, use)
}

// keysToCopy are the values of the key of a table's rows that are copied.
func (c *conn) keysToCopy(ctx context.Context, t hangingTable, ids []string) ([]string, error) {
	if t.name == promptsTable {
		return c.promptsOf(ctx, ids)
	}
	return ids, nil
}

// textPerByte is about how much of a conversation's text gzip puts into a byte; what a row costs beside, and the rest of an entry.
const (
	textPerByte = 3
	rowBytes    = 40
	headerBytes = 250
)

// EstimateCopy is about how large the copy of a plan's rows would be as it is kept, from what the rows weigh; nothing where there are
// none. Rows that could not be kept are ErrNoCopy.
func EstimateCopy(ctx context.Context, path string, plan *Plan) (bytes int64, err error) {
	err = read(ctx, path, "measure what would be kept", func(c *conn) error {
		if err := c.eachCopied(ctx, plan, true, func(string, []string, []any) error { return nil }); err != nil {
			return err
		}
		total, err := c.weighCopy(ctx, plan.schema, plan.IDs())
		if bytes = 0; total.rows > 0 {
			bytes = total.bytes/textPerByte + int64(total.rows)*rowBytes + headerBytes
		}
		return err
	})
	return bytes, err
}

package statedb

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"slices"
)

// A delete that is kept for a while copies its rows before it takes the write lock, and proves under it that they are still what
// goes (contract 10.1). This file holds the copy; restore.go has the way back.

// Copy is a copy of the rows of a plan, as they were.
type Copy struct {
	ids   []string
	proof [sha256.Size]byte
}

// PlanCopy decides, from the snapshot, what a delete would take, and describes it. Errors are as those of Tx.Plan; a plan that may
// not be carried out has its Refusal.
func (l *Look) PlanCopy(ctx context.Context, request Request) (*Plan, error) {
	request.carriedOut = true // a refusal that Remove would find is found by it
	plan, err := l.conn.plan(ctx, request)
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

// Holds tells whether a copy is still one of what the plan takes: the same rows of sessions, the same message ids.
func (t *Tx) Holds(ctx context.Context, plan *Plan, copied *Copy) (bool, error) {
	if copied == nil || !plan.is(copied.ids) {
		return false, nil
	}
	proof, err := t.conn.proof(ctx, plan.schema, plan.IDs())
	return proof == copied.proof, onPath(plan.Path, err)
}

// Describe adds title and number of messages to a plan's targets.
func (t *Tx) Describe(ctx context.Context, plan *Plan) error { return t.conn.describe(ctx, plan) }

// Found tells whether the plan takes any row.
func (p *Plan) Found() bool { return p.found }

// Title is what a human calls what goes: the title of what was asked for, else the first that one of the rows has.
func (p *Plan) Title() string {
	title := ""
	for _, t := range p.Targets {
		if t.Why == WhyRequested && t.Title != "" {
			return t.Title
		}
		if title == "" {
			title = t.Title
		}
	}
	return title
}

// Messages is how many messages go.
func (p *Plan) Messages() (n int) {
	for _, t := range p.Targets {
		n += t.MessageCount
	}
	return n
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
	d.raw(`,"row":{`)
	for i, column := range columns {
		d.comma(i, "")
		d.text(column)
		d.raw(":")
		d.value(cells[i])
	}
	d.raw("}}\n")
}

// copyRows writes the tables in the order in which a restore needs them. A message whose session has no row could not come back, and is
// not copied.
func (c *conn) copyRows(ctx context.Context, plan *Plan, to io.Writer) error {
	out := document{out: bufio.NewWriterSize(to, 64<<10)}
	live, err := c.liveAmong(ctx, plan.IDs())
	if err != nil {
		return classify("look for the sessions to copy", err)
	}
	ids := slices.DeleteFunc(plan.IDs(), func(id string) bool { return !live[id] })
	for _, s := range c.keptRows(plan.schema, ids) {
		columns, err := c.columnsOf(ctx, s.table)
		if err != nil {
			return err
		}
		picked := s.values
		if s.prompts {
			if picked, err = c.promptsOf(ctx, ids); err != nil {
				return err
			}
		}
		err = c.eachRow(ctx, s.table, columns, s.condition, picked, s.order, func(cells []any) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			out.line(s.table, columns, cells)
			return out.failed()
		})
		if err != nil {
			return classify("copy the table "+s.table, err)
		}
	}
	return out.out.Flush()
}

// proof sums up the rows of sessions and the ids of their messages.
func (c *conn) proof(ctx context.Context, s *schema, ids []string) (proof [sha256.Size]byte, err error) {
	sum := sha256.New()
	out := document{out: bufio.NewWriter(sum)}
	columns, err := c.columnsOf(ctx, "sessions")
	if err != nil {
		return proof, err
	}
	use := func(table string, columns []string) func([]any) error {
		return func(cells []any) error {
			out.line(table, columns, cells)
			return ctx.Err()
		}
	}
	err = c.eachRow(ctx, "sessions", columns, "id = ?", values(ids), "id", use("sessions", columns))
	if err == nil {
		key := []string{"id"}
		if !s.has("messages", "id") {
			key = []string{"rowid"}
		}
		err = c.eachRow(ctx, "messages", key, "session_id = ?", values(ids), key[0], use("messages", key))
	}
	if err != nil {
		return proof, classify("sum up what goes", err)
	}
	if err := out.out.Flush(); err != nil {
		return proof, err
	}
	copy(proof[:], sum.Sum(nil))
	return proof, nil
}

// keptTable is a table whose rows a copy holds.
type keptTable struct {
	table, condition, order string
	values                  []any
	prompts                 bool // the values are those of the prompts that the sessions use
}

func (c *conn) keptRows(s *schema, ids []string) (kept []keptTable) {
	if s.has("system_prompts", "hash") && s.has("sessions", "system_prompt_hash") {
		kept = append(kept, keptTable{table: "system_prompts", condition: "hash = ?", prompts: true})
	}
	kept = append(kept,
		keptTable{table: "sessions", condition: "id = ?", values: values(ids)},
		keptTable{table: "messages", condition: "session_id = ?", order: "id", values: values(ids)})
	if s.has("session_model_usage", "session_id") {
		kept = append(kept, keptTable{table: "session_model_usage", condition: "session_id = ?", values: values(ids)})
	}
	return kept
}

// textPerByte is about how much of a conversation's text gzip puts into a byte, and rowBytes what a row costs beside.
const (
	textPerByte = 3
	rowBytes    = 40
)

// EstimateCopy is about how large the copy of a plan's rows would be as it is kept, from what the messages weigh.
func EstimateCopy(ctx context.Context, path string, plan *Plan) (bytes int64, err error) {
	err = read(ctx, path, "measure what would be kept", func(c *conn) error {
		sizes, err := c.sizes(ctx, plan.schema, plan.IDs())
		bytes = 0
		for _, s := range sizes {
			bytes += s.bytes/textPerByte + int64(s.rows+1)*rowBytes
		}
		return err
	})
	return bytes, err
}

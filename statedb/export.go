package statedb

import (
	"bufio"
	"context"
	"io"
	"time"

	"session-sidecar/internal/faultpoint"
)

// exportFormat is the version of the document that Export writes.
const exportFormat = 1

// Exported is what an export has written.
type Exported struct {
	IDs  []string       // in the order of deleted_ids
	Rows map[string]int // by table; a table that the store lacks is not there
}

// Export writes, as one JSON document, the rows that a delete of the request would remove, from one snapshot and without
// the write lock (contract 5d). What refuses a delete whose set is known (a guard, history, a foreign row) is no
// reason not to keep a copy; what leaves the set unknown is one. The rows are streamed: memory holds one of them. create gives what to write to, once the set
// is known; it is called anew where the look has to start anew.
func Export(ctx context.Context, path string, request Request, create func() (io.Writer, error)) (*Exported, error) {
	var exported *Exported
	err := read(ctx, path, "export the conversation", func(c *conn) error {
		request.ExpectedIDs = nil
		plan, err := c.plan(ctx, request, toExport)
		if err != nil {
			return err
		}
		selections, err := c.selectGoing(ctx, plan)
		if err != nil {
			return err
		}
		out, err := create()
		if err != nil {
			return err
		}
		e := &exporter{conn: c, document: document{out: bufio.NewWriterSize(out, 64<<10)}, rows: map[string]int{}}
		if err := e.export(ctx, request.SessionID, plan.IDs(), selections); err != nil {
			return err
		}
		exported = &Exported{IDs: plan.IDs(), Rows: e.rows}
		return nil
	})
	return exported, err
}

type exporter struct {
	document
	conn *conn
	rows map[string]int
}

// export writes the document: members in a fixed order, one row a line.
func (e *exporter) export(ctx context.Context, requested string, ids []string, selections []selection) error {
	e.raw(`{"format":`)
	e.value(int64(exportFormat))
	e.raw(`,"exported_at":`)
	e.value(time.Now().UTC().Format(time.RFC3339))
	e.raw(`,"requested":`)
	e.value(requested)
	e.raw(`,"ids":[`)
	for i, id := range ids {
		e.comma(i, "")
		e.value(id)
	}
	e.raw(`]`)
	for _, s := range selections {
		if err := e.table(ctx, s); err != nil {
			return err
		}
	}
	e.raw("}\n")
	return e.out.Flush()
}

func (e *exporter) table(ctx context.Context, s selection) error {
	columns, err := e.conn.columnsOf(ctx, s.table)
	if err != nil {
		return err
	}
	e.raw(",\n")
	e.value(s.table)
	e.raw(":[")
	e.rows[s.table] = 0
	for _, p := range s.picks {
		err := e.conn.eachRow(ctx, s.table, columns, p.condition, p.values, s.order, func(cells []any) error {
			return e.row(ctx, s.table, columns, cells)
		})
		if err != nil {
			return err
		}
	}
	e.raw("]")
	return nil
}

func (e *exporter) row(ctx context.Context, table string, columns []string, cells []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.comma(e.rows[table], "\n")
	e.rows[table]++
	e.object(columns, cells)
	faultpoint.Hit(faultpoint.ExportRowWritten)
	return e.failed()
}

package statedb

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// This file holds the SQL that reads the rows around some ids, over parents, children and markers (marker_sql.go). No statement
// runs once per row, and only rows that can matter are read.

// lineageReader fills a graph from one connection.
type lineageReader struct {
	conn     *conn
	schema   *schema
	graph    *graph
	rows     sessionRows
	foreign  map[string][]string // an id -> the rows whose _delegate_from names it from elsewhere
	asked    map[string]bool     // ids that foreign tells of; nil where it tells of all
	expanded map[string]bool     // ids of which all children and delegates are in the graph
	looked   map[string]bool     // ids whose own row was asked for
}

// readLineage passes once over every marker that names an id from elsewhere, unless the store has been surveyed, and gives a reader
// that has no row yet. On the legacy path a _delegate_from that is an array or an object, in any row, is ErrUnsupported (contract 5).
func (c *conn) readLineage(ctx context.Context, s *schema, reading markerReading) (*lineageReader, error) {
	r := newLineageReader(c, s, reading)
	if !s.has("sessions", "model_config") {
		return r, nil
	}
	if c.surveyOf(r.source()) != nil {
		r.asked = map[string]bool{}
		return r, r.readForeign(ctx, nil) // which finds what refuses every delete
	}
	return r, r.passOverMarkers(ctx, "")
}

func (r *lineageReader) source() nameSource {
	if r.rows.reading == asSQLite {
		return markersAsSQLite
	}
	return markersAsPython
}

// readForeign makes sure that foreign tells of the ids.
func (r *lineageReader) readForeign(ctx context.Context, ids []string) error {
	if r.asked == nil {
		return nil
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return r.asked[id] })
	if len(ids) == 0 && len(r.asked) > 0 {
		return nil
	}
	rows, few := r.conn.candidates(r.source(), ids)
	for _, id := range ids {
		r.asked[id] = true
	}
	if !few {
		r.asked, r.foreign = nil, map[string][]string{}
		return r.passOverMarkers(ctx, "")
	}
	if len(rows) == 0 {
		return nil
	}
	return r.passOverMarkers(ctx, onlyRows(rows))
}

func (r *lineageReader) passOverMarkers(ctx context.Context, narrow string) error {
	if r.rows.reading == asSQLite {
		return classify("read the lineage markers", r.conn.each(ctx, r.addForeignName, foreignNames("id", narrow)))
	}
	return classify("read the lineage markers", r.conn.each(ctx, r.addForeignMarker, foreignMarkers("", narrow)))
}

// newLineageReader gives a reader that knows no marker from elsewhere: enough for what lies above some ids.
func newLineageReader(c *conn, s *schema, reading markerReading) *lineageReader {
	return &lineageReader{
		conn:     c,
		schema:   s,
		graph:    newGraph(),
		rows:     newSessionRows(reading),
		foreign:  map[string][]string{},
		expanded: map[string]bool{},
		looked:   map[string]bool{},
	}
}

func (r *lineageReader) addForeignName(scan scanFunc) error {
	var id, target string
	if err := scan(&id, &target); err != nil {
		return err
	}
	r.addForeign(target, id)
	return nil
}

// addForeign enters a row once: where it was always to be looked at, it comes with each look.
func (r *lineageReader) addForeign(target, id string) {
	if r.asked == nil || !slices.Contains(r.foreign[target], id) {
		r.foreign[target] = append(r.foreign[target], id)
	}
}

func (r *lineageReader) addForeignMarker(scan scanFunc) error {
	var id, parent, config sql.NullString
	if err := scan(&id, &parent, &config); err != nil {
		return err
	}
	m := readMarkers(optional(config))
	if m.delegate.compound() {
		return unsupported("the %s of session %q is no plain value", keyDelegate, id.String)
	}
	if target, ok := m.delegate.target(); ok && id.Valid && (!parent.Valid || parent.String != target) {
		r.addForeign(target, id.String)
	}
	return nil
}

// ancestors reads the rows of an id and of all its physical ancestors.
func (r *lineageReader) ancestors(ctx context.Context, ids []string) error {
	return r.read(ctx, ids, `UNION SELECT s.parent_session_id FROM around a JOIN sessions s ON s.id = a.id
		WHERE s.parent_session_id IS NOT NULL`, nil)
}

// surroundings reads all that can decide about the ids: everything below them, over children and markers, the
// ancestors of all that, and the rows that its markers name.
func (r *lineageReader) surroundings(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		below := ids
		err := r.read(ctx, ids, `UNION SELECT s.id FROM around a JOIN sessions s ON s.parent_session_id = a.id
			WHERE typeof(s.id) = 'text'`, func(s *session) { below = append(below, s.id) })
		if err != nil {
			return err
		}
		if err := r.ancestors(ctx, ids); err != nil {
			return err
		}
		if err := r.readForeign(ctx, below); err != nil {
			return err
		}
		ids = nil
		for _, id := range below {
			if r.expanded[id] {
				continue
			}
			r.expanded[id] = true
			for _, delegate := range r.foreign[id] {
				if !r.expanded[delegate] {
					ids = append(ids, delegate)
				}
			}
		}
	}
	r.linkMarked()
	return r.markerTargets(ctx)
}

// linkMarked enters the rows whose markers name an expanded id from elsewhere.
func (r *lineageReader) linkMarked() {
	for target, delegates := range r.foreign {
		if !r.expanded[target] || len(r.graph.marked[target]) > 0 {
			continue
		}
		for _, id := range delegates {
			if row := r.graph.rows[id]; row != nil {
				r.graph.marked[target] = append(r.graph.marked[target], row)
			}
		}
	}
}

// markerTargets reads the rows that a _delegate_from in the graph names: their end decides who is kept.
func (r *lineageReader) markerTargets(ctx context.Context) error {
	var missing []string
	for _, row := range r.graph.rows {
		if id, ok := row.markers.delegate.target(); ok && !r.looked[id] && r.graph.rows[id] == nil {
			r.looked[id] = true
			missing = append(missing, id)
		}
	}
	return r.read(ctx, missing, "", nil)
}

// read adds the rows of the ids, and of what the recursive step reaches from them, to the graph. use sees each of them.
func (r *lineageReader) read(ctx context.Context, ids []string, step string, use func(*session)) error {
	columns := strings.Join(r.schema.sessionColumns(r.rows.reading, false), ", ")
	err := inChunks(ids, func(list string, args []any) error {
		query := `WITH RECURSIVE around(id) AS (VALUES ` + rowsOfOne(list) + ` ` + step + `) SELECT ` + columns +
			` FROM sessions WHERE id IN (SELECT id FROM around) AND typeof(id) = 'text'`
		return r.conn.each(ctx, func(scan scanFunc) error {
			row, err := r.rows.scan(scan)
			if err != nil {
				return err
			}
			if known := r.graph.rows[row.id]; known != nil {
				row = known
			} else {
				r.graph.add(row)
			}
			if use != nil {
				use(row)
			}
			return nil
		}, query, args...)
	})
	return classify("read the lineage", err)
}

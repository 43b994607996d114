package statedb

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// This file holds the SQL that reads the rows around some ids, over parents, children and markers (marker_sql.go). No statement runs once per row, and only rows that can matter are read.

// lineageReader fills a graph from one connection.
type lineageReader struct {
	conn     *conn
	schema   *schema
	graph    *graph
	reading  markerReading
	foreign  map[string][]string // an id -> the rows whose _delegate_from names it from elsewhere
	asked    map[string]bool     // ids that foreign tells of; nil where it tells of all
	expanded map[string]bool     // ids of which all children and delegates are in the graph
	looked   map[string]bool     // ids whose own row was asked for
}

// markerReading says whose reading of model_config counts: the two paths differ on malformed text, repeated keys, and
// numbers that only Python knows.
type markerReading int

const (
	asPython markerReading = iota // the legacy path (contract 5)
	asSQLite                      // the canonical path (contract 5b.2)
)

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
	if r.reading == asSQLite {
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
	narrow := r.conn.narrow(r.source(), ids)
	for _, id := range ids {
		r.asked[id] = true
	}
	switch narrow {
	case noRow:
		return nil
	case "": // too many to be asked for
		r.asked, r.foreign = nil, map[string][]string{}
	}
	return r.passOverMarkers(ctx, narrow)
}

func (r *lineageReader) passOverMarkers(ctx context.Context, narrow string) error {
	if r.reading == asSQLite {
		return classify("read the lineage markers", r.conn.each(ctx, r.addForeignName, foreignNames("id", narrow)))
	}
	return classify("read the lineage markers", r.conn.each(ctx, r.addForeignMarker, foreignMarkers("", narrow)))
}

// newLineageReader gives a reader that knows no marker from elsewhere: enough for what lies above some ids.
func newLineageReader(c *conn, s *schema, reading markerReading) *lineageReader {
	return &lineageReader{
		conn:    c,
		schema:  s,
		reading: reading,
		graph: &graph{
			rows: map[string]*session{}, children: map[string][]*session{}, marked: map[string][]*session{},
		},
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
	err := inChunks(ids, func(list string, args []any) error {
		query := `WITH RECURSIVE around(id) AS (VALUES ` + rowsOfOne(list) + ` ` + step + `) SELECT ` + r.columns() +
			` FROM sessions WHERE id IN (SELECT id FROM around) AND typeof(id) = 'text'`
		return r.conn.each(ctx, func(scan scanFunc) error {
			row, err := r.add(scan)
			if err == nil && use != nil {
				use(row)
			}
			return err
		}, query, args...)
	})
	return classify("read the lineage", err)
}

// columns lists what a session is read from. The plus sign hides a column's declared type, which the driver would
// otherwise obey: a number in a column declared TIMESTAMP must stay a number.
func (r *lineageReader) columns() string {
	list := []string{"id", "CASE WHEN typeof(parent_session_id) = 'text' THEN parent_session_id END"}
	for _, column := range []string{
		"source", "session_source", "end_reason", "chat_id", "started_at", "ended_at",
	} {
		list = append(list, orNull(r.schema, column, "+"+column))
	}
	config := "+model_config"
	if r.reading == asSQLite {
		config = unreadBySQLite
	}
	list = append(list, orNull(r.schema, "model_config", config))
	for _, key := range []string{keyDelegate, keyBranch, keyReset} {
		if r.reading == asSQLite && r.schema.has("sessions", "model_config") {
			list = append(list, markerColumn(key))
		} else {
			list = append(list, "NULL")
		}
	}
	return strings.Join(list, ", ")
}

func (r *lineageReader) add(scan scanFunc) (*session, error) {
	var id string
	var parent, source, sessionSource, endReason, chatID, config sql.NullString
	var started, ended, delegate, branch, reset any
	err := scan(&id, &parent, &source, &sessionSource, &endReason, &chatID, &started, &ended, &config, &delegate, &branch, &reset)
	if err != nil {
		return nil, err
	}
	if row := r.graph.rows[id]; row != nil {
		return row, nil
	}
	row := &session{
		id: id, parent: optional(parent), source: optional(source), sessionSource: optional(sessionSource),
		endReason: optional(endReason), chatID: optional(chatID), startedAt: started, endedAt: ended,
	}
	if r.reading == asSQLite {
		row.markers = markers{delegate: newMarker(delegate), branch: newMarker(branch), reset: newMarker(reset)}
		row.disputed = isDisputed(row.parent, optional(config))
	} else {
		row.markers = readMarkers(optional(config))
	}
	r.graph.rows[id] = row
	if row.parent != nil {
		r.graph.children[*row.parent] = append(r.graph.children[*row.parent], row)
	}
	return row, nil
}

func optional(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}

package statedb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file holds the SQL that reads only what decides about one page of the list.

// canReadNear tells whether rows have numbers, and indexes lead from an id to its row, its children, and its messages.
func (c *conn) canReadNear(ctx context.Context, s *schema) (bool, error) {
	if !s.hasRowid("sessions") {
		return false, nil
	}
	const alone = ` AND l."unique" AND NOT EXISTS (SELECT 1 FROM pragma_index_info(l.name) WHERE seqno > 0)`
	can, err := c.isIndexed(ctx, "sessions", "id", alone)
	if can && err == nil {
		can, err = c.isIndexed(ctx, "sessions", "parent_session_id", "")
	}
	if can && err == nil && s.has("messages", "timestamp") {
		can, err = c.isIndexed(ctx, "messages", "session_id", "")
	}
	if can && err == nil {
		can, err = c.exists(ctx, "SELECT 1 FROM pragma_encoding WHERE encoding = 'UTF-8'") // else an id may not be found by what was read
	}
	return can, err
}

// recent are the sessions that were active last.
type recent struct {
	ids   []string
	least float64 // when the last of them was active of which that is known
	all   bool    // there are no more
}

// recent gives the count sessions that were active last, but for those that were after a position. The newest rows come first, so that
// few of the rest are ever among the latest.
func (c *conn) recent(ctx context.Context, s *schema, before *Position, count int) (found recent, err error) {
	condition, args := "", []any{count}
	switch {
	case before == nil:
	case before.Activity == nil:
		condition = "WHERE at IS NULL"
	default:
		condition, args = "WHERE at <= ? OR at IS NULL", []any{*before.Activity, count}
	}
	err = c.each(ctx, func(scan scanFunc) error {
		var id string
		var at any
		if err := scan(&id, &at); err != nil {
			return err
		}
		found.ids = append(found.ids, id)
		if known, ok := seconds(at); ok {
			found.least = known
		}
		return nil
	}, `SELECT id, at FROM (SELECT id, `+s.activityColumn()+` AS at FROM sessions s WHERE typeof(id) = 'text' ORDER BY s.rowid DESC LIMIT -1) `+
		condition+` ORDER BY at DESC LIMIT ?`, args...)
	found.all = len(found.ids) < count
	return found, classify("read when the sessions were active", err)
}

// activityColumn is SQL for what sessionReader says of a session's activity: one number, or NULL. No part of it is asked for twice.
func (s *schema) activityColumn() string {
	time := func(column string) string {
		return fmt.Sprintf("CASE WHEN typeof(%[1]s) IN ('integer', 'real') AND +%[1]s BETWEEN %d AND %d THEN %[1]s END", column, earliest, latest)
	}
	of := func(column string) string {
		if s.has("sessions", column) {
			return time("s." + column)
		}
		return "NULL"
	}
	newest := "NULL"
	if s.has("messages", "timestamp") {
		newest = "(SELECT " + time("timestamp") + newestOfSession + ")"
	}
	const never = "-1e300"
	return "ifnull(nullif(max(ifnull(" + of("last_activity_at") + ", " + never + "), ifnull(" + newest + ", " + never + ")), " + never + "), " +
		of("started_at") + ")"
}

// componentReader reads whole components.
type componentReader struct {
	*sessionReader
	conn   *conn
	within reach
	query  string     // gives sessions, with a condition behind it
	names  *nameIndex // whom markers name, beside their physical parent
}

// newComponentReader passes over the markers.
func (c *conn) newComponentReader(ctx context.Context, s *schema, path Path, within reach) (*componentReader, error) {
	query, err := c.sessionsQuery(ctx, s, path)
	if err != nil {
		return nil, err
	}
	r := &componentReader{sessionReader: newSessionReader(path), conn: c, within: within, query: query, names: newNameIndex()}
	if s.has("sessions", "model_config") {
		err = r.readNames(ctx)
	}
	r.names.finish()
	return r, classify("read the lineage markers", err)
}

// forget leaves the graph empty.
func (r *componentReader) forget() { r.sessionReader = newSessionReader(r.path) }

func (r *componentReader) readNames(ctx context.Context) error {
	var number int64
	if r.path == PathCanonical {
		var target string
		return r.conn.each(ctx, func(scan scanFunc) error {
			if err := scan(&number, &target); err != nil {
				return err
			}
			r.names.add(target, number)
			return nil
		}, foreignNames("rowid", ""))
	}
	var id, parent, config *string
	return r.conn.each(ctx, func(scan scanFunc) error {
		if err := scan(&number, &id, &parent, &config); err != nil {
			return err
		}
		if target, names := readMarkers(config).delegate.target(); names {
			r.names.add(target, number)
		}
		return nil
	}, foreignMarkers("rowid, ", ""))
}

// addComponents adds the components of some sessions to the graph. Where they are too large for that it stops, and tells so.
func (r *componentReader) addComponents(ctx context.Context, ids []string) (near bool, err error) {
	for wave := 0; len(ids) > 0; wave++ {
		fresh, err := r.around(ctx, ids)
		if err != nil {
			return false, classify("read the sessions", err)
		}
		if wave == r.within.waves || len(r.graph.rows) > r.within.near {
			return false, nil
		}
		if ids, err = r.linked(ctx, fresh); err != nil {
			return false, classify("read the sessions", err)
		}
	}
	clear(r.graph.marked)
	r.graph.linkMarkers()
	return true, nil
}

// around adds the sessions of the ids, and all that are above or below them as parents and children, and gives those that are new. It
// leaves some out where the graph has more than are near then.
func (r *componentReader) around(ctx context.Context, ids []string) (fresh []*session, err error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return r.graph.rows[id] != nil })
	err = inChunks(ids, func(list string, args []any) error {
		if len(r.graph.rows) > r.within.near {
			return nil
		}
		return r.conn.each(ctx, func(scan scanFunc) error {
			row, active, err := r.read(scan)
			if err == nil && r.graph.rows[row.id] == nil {
				r.enter(row, active)
				fresh = append(fresh, row)
			}
			return err
		}, `WITH RECURSIVE around(id) AS (VALUES `+rowsOfOne(list)+`
			UNION SELECT p.id FROM around a JOIN sessions s ON s.id = a.id JOIN sessions p ON p.id = s.parent_session_id WHERE typeof(p.id) = 'text'
			UNION SELECT s.id FROM around a JOIN sessions s ON s.parent_session_id = a.id WHERE typeof(s.id) = 'text'
			LIMIT `+strconv.Itoa(r.within.near+chunkSize+1)+`) `+r.query+` AND id IN (SELECT id FROM around)`, args...)
	})
	return fresh, err
}

// linked are the sessions that the markers of some name, and those whose markers may name one of them.
func (r *componentReader) linked(ctx context.Context, rows []*session) (ids []string, err error) {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.id
		if target, ok := row.markers.delegate.target(); ok {
			ids = append(ids, target)
		}
	}
	var numbers []string
	for _, number := range r.names.candidates(names) {
		numbers = append(numbers, strconv.FormatInt(number, 10))
	}
	if len(numbers) == 0 {
		return ids, nil
	}
	err = r.conn.each(ctx, func(scan scanFunc) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM sessions WHERE typeof(id) = 'text' AND rowid IN ("+strings.Join(numbers, ",")+")")
	return ids, err
}

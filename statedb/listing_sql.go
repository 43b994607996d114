package statedb

import (
	"context"
	"fmt"
	"strings"
)

// This file holds the SQL that reads sessions as a list needs them: one pass over them, and one over the times of the messages.

// readSessions reads what the lineage needs of every session on a path, and when each was last active.
func (c *conn) readSessions(ctx context.Context, s *schema, path Path) (*graph, map[*session]float64, error) {
	query, err := c.sessionsQuery(ctx, s, path)
	if err != nil {
		return nil, nil, err
	}
	r := newSessionReader(path)
	err = c.each(ctx, func(scan scanFunc) error {
		row, at, err := r.read(scan)
		if err == nil {
			r.enter(row, at)
		}
		return err
	}, query)
	r.graph.linkMarkers()
	return r.graph, r.activity, classify("read the sessions", err)
}

// sessionReader makes a graph of the rows that sessionsQuery gives, and tells when each was last active: the later of what its row
// says and of its newest message; where neither is known, when it started.
type sessionReader struct {
	path     Path
	rows     sessionRows
	graph    *graph
	activity map[*session]float64
}

func newSessionReader(path Path) *sessionReader {
	return &sessionReader{path: path, rows: newSessionRows(readingOn(path)), graph: newGraph(), activity: map[*session]float64{}}
}

func (r *sessionReader) read(scan scanFunc) (row *session, active *float64, err error) {
	var last, newest any
	if row, err = r.rows.scan(scan, &last, &newest); err != nil {
		return nil, nil, err
	}
	for _, time := range []any{last, newest} {
		if at, known := seconds(time); known && (active == nil || at > *active) {
			active = &at
		}
	}
	if at, known := seconds(row.startedAt); known && active == nil {
		active = &at
	}
	return row, active, nil
}

// enter adds a row to the graph, but for its markers.
func (r *sessionReader) enter(row *session, active *float64) {
	r.graph.add(row)
	if active != nil {
		r.activity[row] = *active
	}
}

// sessionsQuery is the one pass over the sessions.
func (c *conn) sessionsQuery(ctx context.Context, s *schema, path Path) (string, error) {
	newest, join, err := c.newestMessage(ctx, s)
	if err != nil {
		return "", err
	}
	columns := append(s.sessionColumns(readingOn(path), true), s.sessionColumn("last_activity_at"), newest)
	return "SELECT " + strings.Join(columns, ", ") + " FROM sessions s" + join + " WHERE typeof(id) = 'text'", nil
}

// newestMessage is SQL for the time of a session's newest message. Where an index leads there, each session asks for its
// own, which reads one row of the index; else all messages are gone over once.
func (c *conn) newestMessage(ctx context.Context, s *schema) (column, join string, err error) {
	if !s.has("messages", "timestamp") {
		return "NULL", "", nil
	}
	indexed, err := c.isIndexed(ctx, "messages", "session_id", "")
	if err != nil {
		return "", "", err
	}
	if indexed {
		return "(SELECT +timestamp" + newestOfSession + ")", "", nil
	}
	return "newest_message", ` LEFT JOIN (SELECT session_id AS of_session, max(CASE WHEN ` + isTime + ` THEN timestamp END)
		AS newest_message FROM messages GROUP BY session_id) ON of_session = s.id`, nil
}

var (
	isTime          = fmt.Sprintf("timestamp BETWEEN %d AND %d", earliest, latest) // text sorts above every number
	newestOfSession = " FROM messages WHERE session_id = s.id AND " + isTime + " ORDER BY timestamp DESC LIMIT 1"
)

// isIndexed tells whether an index leads from a column to its rows. more are conditions on the index, l, and on the column in it, i.
func (c *conn) isIndexed(ctx context.Context, table, column, more string) (bool, error) {
	indexed, err := c.exists(ctx, `SELECT 1 FROM pragma_index_list(?) l, pragma_index_info(l.name) i
		WHERE l.partial = 0 AND i.seqno = 0 AND i.name = ?`+more, table, column)
	return indexed, classify("read the indexes of "+table, err)
}

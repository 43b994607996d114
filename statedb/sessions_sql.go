package statedb

import (
	"context"
	"database/sql"
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
	graph    *graph
	activity map[*session]float64
	same     interned
}

func newSessionReader(path Path) *sessionReader {
	return &sessionReader{
		path:     path,
		graph:    &graph{rows: map[string]*session{}, children: map[string][]*session{}, marked: map[string][]*session{}},
		activity: map[*session]float64{},
		same:     interned{},
	}
}

func (r *sessionReader) read(scan scanFunc) (row *session, active *float64, err error) {
	var id string
	var parent, source, endReason, sessionSource, config, chatID sql.NullString
	var started, ended, delegate, branch, reset, last, newest any
	cells := []any{&id, &parent, &source, &endReason, &started, &last, &newest}
	if r.path == PathCanonical {
		cells = append(cells, &chatID, &delegate, &branch, &reset, &config)
	} else {
		cells = append(cells, &sessionSource, &ended, &config)
	}
	if err := scan(cells...); err != nil {
		return nil, nil, err
	}
	row = &session{
		id: id, parent: optional(parent), source: r.same.of(source), endReason: r.same.of(endReason), startedAt: started,
		sessionSource: r.same.of(sessionSource), endedAt: ended, chatID: r.same.of(chatID),
	}
	if r.path == PathCanonical {
		row.markers = markers{delegate: newMarker(delegate), branch: newMarker(branch), reset: newMarker(reset)}
		row.disputed = isDisputed(row.parent, optional(config))
	} else {
		row.markers = readMarkers(optional(config))
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
	r.graph.rows[row.id] = row
	if row.parent != nil {
		r.graph.children[*row.parent] = append(r.graph.children[*row.parent], row)
	}
	if active != nil {
		r.activity[row] = *active
	}
}

// sessionsQuery is the one pass over the sessions. Of model_config it fetches only what can matter: on the canonical path the
// markers, and text that SQLite cannot read them from; else text that may hold one (see mayHoldMarker), and that of a subagent, which must be readable.
func (c *conn) sessionsQuery(ctx context.Context, s *schema, path Path) (string, error) {
	newest, join, err := c.newestMessage(ctx, s)
	if err != nil {
		return "", err
	}
	columns := []string{"id", "CASE WHEN typeof(parent_session_id) = 'text' THEN parent_session_id END"}
	for _, name := range []string{"source", "end_reason", "started_at", "last_activity_at"} {
		columns = append(columns, s.sessionColumn(name))
	}
	columns = append(columns, newest)
	mayHold := func(key string) string { return "instr(model_config, '" + key + `') OR instr(model_config, '\u00')` }
	mayHoldAny := mayHold(keyDelegate) + " OR " + mayHold(keyBranch) + " OR " + mayHold(keyReset)
	if path == PathCanonical {
		columns = append(columns, orNull(s, "chat_id", "CASE WHEN typeof(chat_id) = 'text' THEN chat_id END"))
		for _, key := range []string{keyDelegate, keyBranch, keyReset} {
			columns = append(columns, orNull(s, "model_config", "CASE WHEN "+mayHold(key)+" THEN "+markerColumn(key)+" END"))
		}
		columns = append(columns, orNull(s, "model_config", "CASE WHEN "+mayHoldAny+" THEN "+unreadBySQLite+" END"))
	} else {
		columns = append(columns, s.sessionColumn("session_source"), s.sessionColumn("ended_at"), orNull(s, "model_config",
			"CASE WHEN "+s.sessionColumn("source")+" = '"+sourceSubagent+"' OR "+mayHoldAny+" THEN model_config END"))
	}
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

// sessionColumn is SQL for a column of sessions that may be missing. The plus sign hides its declared type, which the
// driver would otherwise obey: a number in a column declared TIMESTAMP must stay a number.
func (s *schema) sessionColumn(name string) string {
	if s.has("sessions", name) {
		return "+" + name
	}
	return "NULL"
}

// earliest and latest are the times that the Agent itself takes for times (contract 5b.1).
const earliest, latest = -62135596800, 253402300800

// seconds reads a time of a row. Only numbers are times here.
func seconds(value any) (float64, bool) {
	switch value.(type) {
	case int64, float64:
		at, ok := finite(value)
		return at, ok && at >= earliest && at <= latest
	}
	return 0, false
}

// interned keeps one copy of each text, for columns that repeat a few words.
type interned map[string]*string

func (seen interned) of(text sql.NullString) *string {
	if !text.Valid {
		return nil
	}
	if seen[text.String] == nil {
		seen[text.String] = &text.String
	}
	return seen[text.String]
}

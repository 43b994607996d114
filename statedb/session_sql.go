package statedb

import "database/sql"

// This file holds the one reader of a row of sessions as the lineage needs it: for what surrounds some ids (lineage_sql.go), and for a
// list (listing_sql.go, near_sql.go).

// markerReading says whose reading of model_config counts: the two paths differ on malformed text, repeated keys, and
// numbers that only Python knows.
type markerReading int

const (
	asPython markerReading = iota // the legacy path (contract 5)
	asSQLite                      // the canonical path (contract 5b.2)
)

// sessionColumn is SQL for a column of sessions that may be missing. The plus sign hides its declared type, which the
// driver would otherwise obey: a number in a column declared TIMESTAMP must stay a number.
func (s *schema) sessionColumn(name string) string {
	if s.has("sessions", name) {
		return "+" + name
	}
	return "NULL"
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

// readingOn is how the markers are read on a path.
func readingOn(path Path) markerReading {
	if path == PathCanonical {
		return asSQLite
	}
	return asPython
}

// sessionRows reads rows of sessions for one graph.
type sessionRows struct {
	reading markerReading
	same    interned
}

func newSessionRows(reading markerReading) sessionRows { return sessionRows{reading, interned{}} }

// sessionColumns is SQL for what a session is read from, in the order of sessionRows.scan. On a path only those are there that it
// decides by. Where rows are passed over that mostly hold no marker, sparing fetches of model_config only what can matter: text that
// may hold one (see mayHoldMarker), and with asPython that of a subagent, which must be readable.
func (s *schema) sessionColumns(reading markerReading, sparing bool) []string {
	model := func(condition, expression string) string {
		if sparing {
			expression = "CASE WHEN " + condition + " THEN " + expression + " END"
		}
		return orNull(s, "model_config", expression)
	}
	columns := []string{"id", "CASE WHEN typeof(parent_session_id) = 'text' THEN parent_session_id END"}
	for _, name := range []string{"source", "end_reason", "started_at"} {
		columns = append(columns, s.sessionColumn(name))
	}
	if reading == asPython {
		for _, name := range []string{"chat_id", "session_source", "ended_at"} {
			columns = append(columns, s.sessionColumn(name))
		}
		return append(columns, model(s.sessionColumn("source")+" = '"+sourceSubagent+"' OR "+mayHoldAny, "+model_config"))
	}
	columns = append(columns, orNull(s, "chat_id", "CASE WHEN typeof(chat_id) = 'text' THEN chat_id END"), model(mayHoldAny, unreadBySQLite))
	for _, key := range []string{keyDelegate, keyBranch, keyReset} {
		columns = append(columns, model(mayHold(key), markerColumn(key)))
	}
	return columns
}

// scan reads a session from sessionColumns; more takes the columns behind them.
func (r sessionRows) scan(scan scanFunc, more ...any) (*session, error) {
	var id string
	var parent, source, endReason, chatID, sessionSource, config sql.NullString
	var started, ended, delegate, branch, reset any
	cells := []any{&id, &parent, &source, &endReason, &started, &chatID}
	if r.reading == asPython {
		cells = append(cells, &sessionSource, &ended, &config)
	} else {
		cells = append(cells, &config, &delegate, &branch, &reset)
	}
	if err := scan(append(cells, more...)...); err != nil {
		return nil, err
	}
	row := &session{
		id: id, parent: optional(parent), source: r.same.of(source), endReason: r.same.of(endReason), startedAt: started,
		chatID: r.same.of(chatID), sessionSource: r.same.of(sessionSource), endedAt: ended,
	}
	if r.reading == asPython {
		row.markers = readMarkers(optional(config))
	} else {
		row.markers = markers{delegate: newMarker(delegate), branch: newMarker(branch), reset: newMarker(reset)}
		row.disputed = isDisputed(row.parent, optional(config))
	}
	return row, nil
}

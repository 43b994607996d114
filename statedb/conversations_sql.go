package statedb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// This file holds the SQL that lists conversations: one pass over the sessions, one over the times of the messages, and
// what is shown of a conversation for the ones on the page alone.

// Conversation is what a list shows of a conversation.
type Conversation struct {
	Root         string // its first segment
	Newest       string // its last one
	Title        string // of the newest segment that has one
	Source       string // of the root
	Segments     int
	MessageCount int // with those of its delegates
	Bytes        int64
	LastActivity *float64 // seconds since 1970; nil where nobody knows
	InUse        bool     // a guard protects it, or something that goes along with it
}

// Conversations lists a page of a store's conversations, from one snapshot (contract 5d).
func Conversations(ctx context.Context, path string, request ListRequest) (*Page, error) {
	var page *Page
	err := read(ctx, path, "list the conversations", func(c *conn) (err error) {
		page, err = c.conversations(ctx, request)
		return err
	})
	return page, err
}

func (c *conn) conversations(ctx context.Context, request ListRequest) (*Page, error) {
	s, err := c.readSchema(ctx)
	if err != nil {
		return nil, err
	}
	if !s.has("sessions", "id", "parent_session_id") || !s.has("messages", "session_id") {
		return nil, unsupported("the store has no tables sessions and messages as this sidecar knows them")
	}
	found, err := c.search(ctx, s, request.Query)
	if err != nil {
		return nil, err
	}
	path := listedAs(s, request.Agent)
	all, activity, err := c.readSessions(ctx, s, path)
	if err != nil {
		return nil, err
	}
	var matches map[*session]bool
	if found != nil {
		matches = map[*session]bool{}
		for id := range found {
			matches[all.rows[id]] = true // nil where the message has no session; nobody asks for that
		}
	}
	f, err := c.families(ctx, path, all)
	if err != nil {
		return nil, err
	}
	listed, next := cut(f.place(activity, matches), request.Before, request.Limit)
	page := &Page{Next: next}
	page.Conversations, err = c.describeConversations(ctx, s, path, all, f, listed)
	return page, err
}

// readSessions reads what the lineage needs of every session on a path, and when each was last active: the later of what its row
// says and of its newest message; where neither is known, when it started.
func (c *conn) readSessions(ctx context.Context, s *schema, path Path) (*graph, map[*session]float64, error) {
	query, err := c.sessionsQuery(ctx, s, path)
	if err != nil {
		return nil, nil, err
	}
	g := &graph{rows: map[string]*session{}, children: map[string][]*session{}, marked: map[string][]*session{}}
	activity := map[*session]float64{}
	same := interned{}
	var id string
	var parent, source, endReason, sessionSource, config, chatID sql.NullString
	var started, ended, delegate, branch, reset, last, newest any
	cells := []any{&id, &parent, &source, &endReason, &started, &last, &newest}
	if path == PathCanonical {
		cells = append(cells, &chatID, &delegate, &branch, &reset, &config)
	} else {
		cells = append(cells, &sessionSource, &ended, &config)
	}
	err = c.each(ctx, func(scan scanFunc) error {
		if err := scan(cells...); err != nil {
			return err
		}
		row := &session{
			id: id, parent: optional(parent), source: same.of(source), endReason: same.of(endReason), startedAt: started,
			sessionSource: same.of(sessionSource), endedAt: ended, chatID: same.of(chatID),
		}
		if path == PathCanonical {
			row.markers = markers{delegate: newMarker(delegate), branch: newMarker(branch), reset: newMarker(reset)}
			row.disputed = isDisputed(row.parent, optional(config))
		} else {
			row.markers = readMarkers(optional(config))
		}
		g.rows[row.id] = row
		if row.parent != nil {
			g.children[*row.parent] = append(g.children[*row.parent], row)
		}
		for _, time := range []any{last, newest} {
			if at, known := seconds(time); known {
				raise(activity, row, at)
			}
		}
		if _, known := activity[row]; !known {
			if at, known := seconds(row.startedAt); known {
				activity[row] = at
			}
		}
		return nil
	}, query)
	g.linkMarkers()
	return g, activity, classify("read the sessions", err)
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
	indexed, err := c.exists(ctx, `SELECT 1 FROM pragma_index_list('messages') l, pragma_index_info(l.name) i
		WHERE l.partial = 0 AND i.seqno = 0 AND i.name = 'session_id'`)
	if err != nil {
		return "", "", classify("read the indexes of the messages", err)
	}
	isTime := fmt.Sprintf(`timestamp BETWEEN %d AND %d`, earliest, latest) // text sorts above every number
	if indexed {
		return `(SELECT +timestamp FROM messages WHERE session_id = s.id AND ` + isTime + ` ORDER BY timestamp DESC LIMIT 1)`, "", nil
	}
	return "newest_message", ` LEFT JOIN (SELECT session_id AS of_session, max(CASE WHEN ` + isTime + ` THEN timestamp END)
		AS newest_message FROM messages GROUP BY session_id) ON of_session = s.id`, nil
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

// linkMarkers enters the rows whose _delegate_from names an id other than their physical parent.
func (g *graph) linkMarkers() {
	for _, row := range g.rows {
		if target, ok := row.markers.delegate.target(); ok && (row.parent == nil || *row.parent != target) {
			g.marked[target] = append(g.marked[target], row)
		}
	}
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

// describeConversations reads what a list shows of the conversations on one page.
func (c *conn) describeConversations(
	ctx context.Context, s *schema, path Path, all *graph, f *families, listed []conversation,
) ([]Conversation, error) {
	members := make([][]*session, len(listed))
	var ids []string
	for i, one := range listed {
		members[i] = f.members(one.kin)
		for _, row := range members[i] {
			ids = append(ids, row.id)
		}
	}
	titles, err := c.titles(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	sizes, err := c.sizes(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	used, err := c.inUse(ctx, s, path, all, ids)
	if err != nil {
		return nil, err
	}
	conversations := make([]Conversation, len(listed))
	for i, one := range listed {
		conversations[i] = one.shown(titles)
		for _, row := range members[i] {
			conversations[i].MessageCount += sizes[row.id].rows
			conversations[i].Bytes += sizes[row.id].bytes
			conversations[i].InUse = conversations[i].InUse || used[row.id]
		}
	}
	return conversations, nil
}

// shown is what the segments alone tell.
func (one *conversation) shown(titles map[string]string) Conversation {
	last := len(one.segments) - 1
	shown := Conversation{
		Root: one.Root, Newest: one.segments[last].id, Segments: len(one.segments), LastActivity: one.Activity,
	}
	if source := one.segments[0].source; source != nil {
		shown.Source = *source
	}
	for i := last; i >= 0 && shown.Title == ""; i-- {
		if title := titles[one.segments[i].id]; strings.TrimSpace(title) != "" {
			shown.Title = title
		}
	}
	return shown
}

// size is how much of something belongs to a session.
type size struct {
	rows  int
	bytes int64
}

// sizes counts messages and their text. SQLite tells the length of a column without reading the whole of it.
func (c *conn) sizes(ctx context.Context, s *schema, ids []string) (map[string]size, error) {
	lengths := "0"
	for _, column := range []string{"content", "tool_calls", "reasoning", "media_content", "tool_name"} {
		if s.has("messages", column) {
			lengths += " + coalesce(octet_length(" + column + "), 0)"
		}
	}
	sizes, err := c.measure(ctx, ids, `SELECT session_id, count(*), sum(`+lengths+`) FROM messages
		WHERE session_id IN LIST GROUP BY session_id`)
	return sizes, classify("measure the messages", err)
}

// measure runs a query that gives rows and bytes for each of the ids, which LIST stands for.
func (c *conn) measure(ctx context.Context, ids []string, query string) (map[string]size, error) {
	sizes := map[string]size{}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var id string
			var one size
			if err := scan(&id, &one.rows, &one.bytes); err != nil {
				return err
			}
			sizes[id] = one
			return nil
		}, strings.Replace(query, "LIST", list, 1), args...)
	})
	return sizes, err
}

// inUse tells which of the ids a live guard protects, or on the canonical path a request or worker that is not settled. A store
// without the tables of guards has none.
func (c *conn) inUse(ctx context.Context, s *schema, path Path, all *graph, ids []string) (map[string]bool, error) {
	for table, columns := range guardTables {
		if !s.has(table, columns...) {
			return nil, nil
		}
	}
	guards, err := c.guardsOf(ctx, ids, all)
	if err != nil {
		return nil, err
	}
	held, roots := heldBy(guards.live), all.leaseRoots(ids)
	used := map[string]bool{}
	for _, id := range ids {
		_, used[id] = held.of(id, roots)
	}
	if path != PathCanonical {
		return used, nil
	}
	unsettled, err := c.unsettled(ctx, ids)
	for _, g := range unsettled {
		used[g.SessionID] = true
	}
	return used, err
}

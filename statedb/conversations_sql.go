package statedb

import (
	"context"
	"strings"
)

// This file holds the SQL that lists conversations. What decides about a page is read near its sessions where that can be done
// (near_sql.go), else of all of them (listing_sql.go); what is shown of a conversation, for the ones on the page alone.

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
	listed, err := c.chooseNear(ctx, s, path, request, found, reachOfPage)
	if err == nil && listed == nil {
		listed, err = c.chooseFromAll(ctx, s, path, request, found)
	}
	if err != nil {
		return nil, err
	}
	page := &Page{Next: listed.next}
	page.Conversations, err = c.describeConversations(ctx, s, path, listed)
	return page, err
}

// pageRows are what a page shows, with the rows that tell about it.
type pageRows struct {
	graph         *graph
	families      *families
	conversations []conversation
	next          *Position
}

// choose cuts a page out of the conversations of some sessions, which leave out no row that hangs together with one of them. found
// are the sessions that match a query; nil where there is none.
func (c *conn) choose(
	ctx context.Context, path Path, all *graph, activity map[*session]float64, found map[string]bool, request ListRequest,
) (*pageRows, error) {
	f, placed, err := c.place(ctx, path, all, activity, found)
	if err != nil {
		return nil, err
	}
	listed, next := cut(placed, request.Before, request.Limit)
	return &pageRows{all, f, listed, next}, nil
}

// place gives the conversations of some sessions in their order.
func (c *conn) place(
	ctx context.Context, path Path, all *graph, activity map[*session]float64, found map[string]bool,
) (*families, []conversation, error) {
	f, err := c.families(ctx, path, all)
	if err != nil {
		return nil, nil, err
	}
	var matches map[*session]bool
	if found != nil {
		matches = map[*session]bool{}
		for id, row := range all.rows {
			if found[id] {
				matches[row] = true
			}
		}
	}
	return f, f.place(activity, matches), nil
}

// chooseFromAll reads every session.
func (c *conn) chooseFromAll(ctx context.Context, s *schema, path Path, request ListRequest, found map[string]bool) (*pageRows, error) {
	all, activity, err := c.readSessions(ctx, s, path)
	if err != nil {
		return nil, err
	}
	return c.choose(ctx, path, all, activity, found, request)
}

// describeConversations reads what a list shows of the conversations on one page.
func (c *conn) describeConversations(
	ctx context.Context, s *schema, path Path, page *pageRows,
) ([]Conversation, error) {
	listed := page.conversations
	members := make([][]*session, len(listed))
	var ids []string
	for i, one := range listed {
		members[i] = page.families.members(one.kin)
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
	used, err := c.inUse(ctx, s, path, page.graph, ids)
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

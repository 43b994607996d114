package statedb

import "context"

// This file puts one page of the list together. What decides about it is read near its sessions where that can be done (near.go),
// else of all of them (listing_sql.go); what is shown of a conversation, for the ones on the page alone.

// Conversations lists a page of a store's conversations, from one snapshot (contract 5d, list_conversations). Errors are ErrUnsupported
// for a store without sessions or messages, and ErrNotSearchable where it is to be searched and cannot be.
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
	if !s.hasConversations() {
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
	grouping      *grouping
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
) (*grouping, []conversation, error) {
	f, err := c.grouping(ctx, path, all)
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
		members[i] = page.grouping.members(one.group)
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

// inUse tells which of the ids a live guard protects, or on the canonical path a request or worker that is not settled. A store
// without the tables of guards has none.
func (c *conn) inUse(ctx context.Context, s *schema, path Path, all *graph, ids []string) (map[string]bool, error) {
	if s.missingGuards() != "" {
		return nil, nil
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

// grouping sorts sessions into conversations by the rules of a path.
func (c *conn) grouping(ctx context.Context, path Path, all *graph) (*grouping, error) {
	if path != PathCanonical {
		return all.legacyGrouping(ctx)
	}
	locals, err := c.readLocals(ctx, all)
	if err != nil {
		return nil, err
	}
	return all.canonicalGrouping(ctx, locals)
}

package statedb

import (
	"context"
	"maps"
	"slices"
)

// This file makes a page of the list without reading all sessions; the SQL is in near_sql.go. Sessions hang together where one is the other's
// physical parent, or its _delegate_from names the other; a component is all that hang together, directly or not. No conversation reaches
// beyond its component, and none is later active than the latest of its sessions. So the sessions that were active last, with their
// whole components, tell the first conversations, whatever else is in the store. Of that only two things are passed over: when each
// session was last active, and whom the markers name.

// reach bounds what is read for one page.
type reach struct {
	// perConversation is how many sessions are looked at for each conversation of a page, atLeast how many for any page. Where the page
	// is not full of them, more times as many are.
	perConversation, atLeast, more int
	// found is how many sessions that match a query are looked at in one go.
	found int
	// near and waves bound what is read of components. Where that is not enough, all sessions are read in one go.
	near, waves int
}

var reachOfPage = reach{perConversation: 4, atLeast: 300, more: 8, found: 2000, near: 20_000, waves: 100}

// chooseNear is chooseFromAll where the sessions of the page and their components are few, and can be found through indexes; else it gives
// nothing.
func (c *conn) chooseNear(
	ctx context.Context, s *schema, path Path, request ListRequest, found map[string]bool, within reach,
) (*pageRows, error) {
	if found != nil && len(found) == 0 {
		return &pageRows{graph: &graph{}, grouping: newGrouping(nil)}, nil
	}
	if can, err := c.canReadNear(ctx, s); !can || err != nil {
		return nil, err
	}
	r, err := c.newComponentReader(ctx, s, path, within)
	if err != nil {
		return nil, err
	}
	if found != nil && len(found) <= within.found {
		return r.chooseAround(ctx, sortedKeys(found), request, found)
	}
	for count := within.perConversation*request.Limit + within.atLeast; count < within.near; count *= within.more {
		last, err := c.recent(ctx, s, request.Before, count)
		if err != nil {
			return nil, err
		}
		page, err := r.chooseAround(ctx, last.ids, request, found)
		if err != nil || page == nil || last.all || page.full(last.least) {
			return page, err
		}
	}
	if found == nil {
		return nil, nil //nolint:nilnil // the other way is left
	}
	return r.chooseAmong(ctx, request, found)
}

// chooseAround cuts a page out of the conversations in the components of some sessions, and of those that were read before; it gives nothing
// where these are too large.
func (r *componentReader) chooseAround(ctx context.Context, ids []string, request ListRequest, found map[string]bool) (*pageRows, error) {
	near, err := r.addComponents(ctx, ids)
	if !near || err != nil {
		return nil, err
	}
	return r.conn.choose(ctx, r.path, r.graph, maps.Clone(r.activity), found, request)
}

// chooseAmong does so for many sessions that match a query and were not active lately. It goes over them by and by, and keeps only
// where their conversations are in the order.
func (r *componentReader) chooseAmong(ctx context.Context, request ListRequest, found map[string]bool) (*pageRows, error) {
	var first []Position
	for ids := range slices.Chunk(sortedKeys(found), r.within.found) {
		r.forget()
		near, err := r.addComponents(ctx, ids)
		if !near || err != nil {
			return nil, err
		}
		_, placed, err := r.conn.place(ctx, r.path, r.graph, r.activity, found)
		if err != nil {
			return nil, err
		}
		placed, _ = cut(placed, request.Before, request.Limit+1) // one more tells whether there is a next page
		for _, one := range placed {
			first = append(first, one.Position)
		}
		slices.SortFunc(first, Position.compare)
		first = slices.CompactFunc(first, func(a, b Position) bool { return a.Root == b.Root })
		first = first[:min(len(first), request.Limit+1)]
	}
	roots := make([]string, len(first))
	for i, position := range first {
		roots[i] = position.Root
	}
	r.forget()
	return r.chooseAround(ctx, roots, request, found)
}

// full tells whether nothing can come before the last conversation of a page that was made of all sessions active after a time, and
// whether there is one more.
func (page *pageRows) full(after float64) bool {
	return page.next != nil && page.next.Activity != nil && *page.next.Activity > after
}

package statedb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file holds the SQL that reads only what decides about one page of the list. Sessions hang together where one is the other's
// physical parent, or its _delegate_from names the other; a clan is all that hang together, directly or not. No conversation reaches
// beyond its clan, and none is later active than the latest of its sessions. So the sessions that were active last, with their
// whole clans, tell the first conversations, whatever else is in the store. Of that only two things are passed over: when each
// session was last active, and whom the markers name.

// reach bounds what is read for one page.
type reach struct {
	// perConversation is how many sessions are looked at for each conversation of a page, atLeast how many for any page. Where the page
	// is not full of them, more times as many are.
	perConversation, atLeast, more int
	// found is how many sessions that match a query are looked at in one go.
	found int
	// near and waves bound what is read of clans. Where that is not enough, all sessions are read in one go.
	near, waves int
}

var reachOfPage = reach{perConversation: 4, atLeast: 300, more: 8, found: 2000, near: 20_000, waves: 100}

// chooseNear is chooseFromAll where the sessions of the page and their clans are few, and can be found through indexes; else it gives
// nothing.
func (c *conn) chooseNear(
	ctx context.Context, s *schema, path Path, request ListRequest, found map[string]bool, within reach,
) (*pageRows, error) {
	if found != nil && len(found) == 0 {
		return &pageRows{graph: &graph{}, families: newFamilies(nil)}, nil
	}
	if can, err := c.canReadNear(ctx, s); !can || err != nil {
		return nil, err
	}
	r, err := c.newClanReader(ctx, s, path, within)
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

// chooseAround cuts a page out of the conversations in the clans of some sessions, and of those that were read before; it gives nothing
// where these are too large.
func (r *clanReader) chooseAround(ctx context.Context, ids []string, request ListRequest, found map[string]bool) (*pageRows, error) {
	near, err := r.addClans(ctx, ids)
	if !near || err != nil {
		return nil, err
	}
	return r.conn.choose(ctx, r.path, r.graph, maps.Clone(r.activity), found, request)
}

// chooseAmong does so for many sessions that match a query and were not active lately. It goes over them by and by, and keeps only
// where their conversations are in the order.
func (r *clanReader) chooseAmong(ctx context.Context, request ListRequest, found map[string]bool) (*pageRows, error) {
	var first []Position
	for ids := range slices.Chunk(sortedKeys(found), r.within.found) {
		r.forget()
		near, err := r.addClans(ctx, ids)
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

// clanReader reads whole clans.
type clanReader struct {
	*sessionReader
	conn   *conn
	within reach
	query  string     // gives sessions, with a condition behind it
	names  *nameIndex // whom markers name, beside their physical parent
}

// newClanReader passes over the markers.
func (c *conn) newClanReader(ctx context.Context, s *schema, path Path, within reach) (*clanReader, error) {
	query, err := c.sessionsQuery(ctx, s, path)
	if err != nil {
		return nil, err
	}
	r := &clanReader{sessionReader: newSessionReader(path), conn: c, within: within, query: query, names: newNameIndex()}
	if s.has("sessions", "model_config") {
		err = r.readNames(ctx)
	}
	r.names.finish()
	return r, classify("read the lineage markers", err)
}

// forget leaves the graph empty.
func (r *clanReader) forget() { r.sessionReader = newSessionReader(r.path) }

func (r *clanReader) readNames(ctx context.Context) error {
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

// addClans adds the clans of some sessions to the graph. Where they are too large for that it stops, and tells so.
func (r *clanReader) addClans(ctx context.Context, ids []string) (near bool, err error) {
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
func (r *clanReader) around(ctx context.Context, ids []string) (fresh []*session, err error) {
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
func (r *clanReader) linked(ctx context.Context, rows []*session) (ids []string, err error) {
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

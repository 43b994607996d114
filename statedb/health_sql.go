package statedb

import (
	"context"
	"errors"
	"strings"
)

// This file holds all SQL that asks how a store is. A value may be of any type here, whatever the column says: the store may be
// somebody else's, or damaged.

// mostNamed is how many ids a Sampled names.
const mostNamed = 5

// sample counts the ids that a query gives, and names the first. Where the store lacks what is asked, there is none.
func (e *Exam) sample(ctx context.Context, into **Sampled, can bool, query string, args ...any) error {
	found := &Sampled{}
	if can {
		args = append(args, mostNamed)
		err := e.each(ctx, func(scan scanFunc) error {
			var id string
			if err := scan(&id, &found.Count); err != nil {
				return err
			}
			found.IDs = append(found.IDs, id)
			return nil
		}, `SELECT coalesce(CAST(id AS TEXT), ''), count(*) OVER () FROM (`+query+`) LIMIT ?`, args...)
		if err != nil {
			return err
		}
	}
	*into = found
	return nil
}

func (e *Exam) hasRecords() bool { return e.schema.hasRecords() }

func (e *Exam) hasSessions() bool { return e.schema.has("sessions", "id") }

func (e *Exam) hasMessages() bool { return e.schema.has("messages", "session_id") }

// Bytes is how large the snapshot is, wherever its pages lie; 0 where that cannot be read.
func (e *Exam) Bytes(ctx context.Context) int64 {
	var h Health
	if e.conn == nil || e.countPages(ctx, &h) != nil {
		return 0
	}
	return h.Pages.All * h.Pages.Size
}

func (e *Exam) countPages(ctx context.Context, h *Health) error {
	var p PageHealth
	for pragma, into := range map[string]*int64{"page_count": &p.All, "freelist_count": &p.Free, "page_size": &p.Size} {
		if err := e.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(into); err != nil {
			return err
		}
	}
	h.Pages = &p
	return nil
}

func (e *Exam) countSessions(ctx context.Context, h *Health) error {
	if !e.hasSessions() {
		return nil
	}
	return e.QueryRowContext(ctx, "SELECT count(*) FROM sessions").Scan(&h.Sessions)
}

func (e *Exam) countMessages(ctx context.Context, h *Health) error {
	if !e.hasMessages() {
		return nil
	}
	return e.QueryRowContext(ctx, "SELECT count(*) FROM messages").Scan(&h.Messages)
}

// readAllGuards reads the guards; those of each kind that run out first, and those that never do, one by one. A store that lacks part
// of a table has no path, and is not asked for what is in it.
func (e *Exam) readAllGuards(ctx context.Context, h *Health) error {
	var guards GuardsHealth
	for _, table := range []struct {
		kind      GuardKind
		name, key string
	}{
		{GuardCompressionLock, "compression_locks", "session_id"},
		{GuardTurnLease, "session_turn_leases", "conversation_id"},
	} {
		if !e.schema.has(table.name, guardTables[table.name]...) {
			continue
		}
		var count int
		if err := e.QueryRowContext(ctx, "SELECT count(*) FROM "+table.name).Scan(&count); err != nil {
			return err
		}
		guards.Count += count
		err := e.each(ctx, func(scan scanFunc) error {
			g := Guard{Kind: table.kind}
			if err := scan(&g.key, &g.Holder, &g.expires); err != nil {
				return err
			}
			g.SessionID = g.key
			if expires, ok := finite(g.expires); ok {
				g.ExpiresAt = &expires
			}
			guards.First = append(guards.First, examGuard(g, now(), holderState))
			return nil
		}, `SELECT * FROM (SELECT coalesce(CAST(`+table.key+` AS TEXT), ''), coalesce(CAST(holder AS TEXT), ''), +expires_at FROM `+table.name+`
			ORDER BY +expires_at, 1 LIMIT ?) ORDER BY 1`, mostGuards-len(guards.First))
		if err != nil {
			return err
		}
	}
	h.Guards = &guards
	return nil
}

func (e *Exam) countUnsettled(ctx context.Context, h *Health) error {
	var u Unsettled
	for table, into := range map[string]*int{"session_admissions": &u.Requests, "worker_executions": &u.Workers} {
		if !e.schema.has(table, "status") {
			continue
		}
		if err := e.QueryRowContext(ctx, `SELECT count(*) FROM `+table+` WHERE status IS NOT 'terminal'`).Scan(into); err != nil {
			return err
		}
	}
	h.Unsettled = &u
	return nil
}

func (e *Exam) readIntents(ctx context.Context, h *Health) error {
	var intents IntentHealth
	if e.hasRecords() {
		err := e.eachUnder(ctx, routeIntentPrefix, func(_, value string) {
			ids, ok := readRouteIntent(value)
			intents.Count++
			intents.SessionIDs += len(ids)
			if !ok {
				intents.Damaged++
			}
		})
		if err != nil {
			return err
		}
	}
	h.Intents = &intents
	return nil
}

func (e *Exam) countNotes(ctx context.Context, h *Health) error {
	var notes int
	if e.hasRecords() {
		var err error
		if notes, err = e.countUnder(ctx, spillPrefix, mediaPrefix); err != nil {
			return err
		}
	}
	h.Notes = &notes
	return nil
}

func (e *Exam) readStaleIndexes(ctx context.Context, h *Health) error {
	records, err := e.records(ctx, e.schema, []string{cjkStaleKey})
	if value, there := records[cjkStaleKey]; there && value != "" && value != "0" {
		h.StaleIndexes = []string{cjkIndex}
	}
	return err
}

func (e *Exam) readReceiptHealth(ctx context.Context, h *Health) error {
	var r ReceiptHealth
	err := e.refuseOtherReceipts(ctx, e.schema)
	switch {
	case errors.Is(err, ErrUnsupported):
		r.Unfit = err
	case err != nil:
		return err
	case e.schema.has(receiptsTable):
		r.There = true
		if r.Head, err = e.newestSequence(ctx, 0); err != nil {
			return err
		}
		err = e.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE CASE WHEN typeof(deletion_json) = 'text' AND json_valid(deletion_json)
			THEN json_type(deletion_json) IS NOT 'object' ELSE 1 END) FROM `+receiptsTable).Scan(&r.Count, &r.Damaged)
		if err != nil {
			return err
		}
	}
	h.Receipts = &r
	return nil
}

func (e *Exam) countFences(ctx context.Context, h *Health) error {
	var f FenceHealth
	for prefix, into := range map[string]*FenceCounts{retiredSessionPrefix: &f.Sessions, retiredRoutePrefix: &f.Routes} {
		if !e.hasRecords() {
			break
		}
		err := e.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE typeof(value) <> 'text' OR NOT json_valid(value))
			FROM state_meta WHERE `+within(prefix)).Scan(&into.All, &into.Garbled)
		if err != nil {
			return err
		}
		err = e.eachExpiring(ctx, prefix, func(_ string, t tombstone) {
			into.Expiring++
			if t.agedOut(now()) {
				into.RunOut++
			}
		})
		if err != nil {
			return err
		}
	}
	h.Fences = &f
	return nil
}

// findUndead asks for the tombstones of live sessions, of which there is hardly one, and reads what each of them says.
func (e *Exam) findUndead(ctx context.Context, h *Health) error {
	var undead Sampled
	if e.hasSessions() && e.hasRecords() {
		err := e.eachRecord(ctx, func(key, value string) {
			if readTombstone(value).agedOut(now()) {
				return
			}
			undead.Count++
			if undead.Count <= mostNamed {
				undead.IDs = append(undead.IDs, strings.TrimPrefix(key, retiredSessionPrefix))
			}
		}, "WHERE "+within(retiredSessionPrefix)+" AND EXISTS (SELECT 1 FROM sessions WHERE id = substr(state_meta.key, length(?) + 1))",
			retiredSessionPrefix)
		if err != nil {
			return err
		}
	}
	h.Undead = &undead
	return nil
}

func (e *Exam) findLostParents(ctx context.Context, h *Health) error {
	return e.sample(ctx, &h.LostParents, e.schema.has("sessions", "id", "parent_session_id"), `SELECT id FROM sessions s
		WHERE parent_session_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id)`)
}

func (e *Exam) findEmptySessions(ctx context.Context, h *Health) error {
	return e.sample(ctx, &h.EmptySessions, e.hasSessions() && e.hasMessages(), `SELECT id FROM sessions s
		WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)`)
}

// findLooseMessages goes from one session to the next, over the index of the messages, instead of over all messages.
func (e *Exam) findLooseMessages(ctx context.Context, h *Health) error {
	return e.sample(ctx, &h.LooseMessages, e.hasSessions() && e.hasMessages(), `WITH RECURSIVE named(id) AS (
			SELECT min(session_id) FROM messages UNION ALL
			SELECT (SELECT min(session_id) FROM messages WHERE session_id > named.id) FROM named WHERE named.id IS NOT NULL)
		SELECT id FROM named WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = named.id)`)
}

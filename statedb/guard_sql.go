package statedb

import (
	"context"
	"slices"
	"strings"
)

// This file holds all SQL over the guard tables.

// readGuards lists every lease and lock that concerns the ids, in the order of the ids. roots gives the id under which
// the turn lease of each id's conversation is kept.
func (c *conn) readGuards(ctx context.Context, ids []string, roots map[string]string) ([]Guard, error) {
	protects := map[string]string{} // a root -> the first id whose conversation it is
	var keys []string
	for _, id := range ids {
		if root := roots[id]; protects[root] == "" {
			protects[root] = id
			keys = append(keys, root)
		}
	}
	order := map[string]int{}
	for i, id := range ids {
		order[id] = i
	}
	var guards []Guard
	read := func(kind GuardKind, keys []string, query string, protected func(key string) string) error {
		return inChunks(keys, func(list string, args []any) error {
			return c.each(ctx, func(scan scanFunc) error {
				g := Guard{Kind: kind}
				var holder *string
				if err := scan(&g.key, &holder, &g.expires); err != nil {
					return err
				}
				if holder != nil {
					g.Holder = *holder
				}
				g.SessionID = protected(g.key)
				if expires, ok := finite(g.expires); ok {
					g.ExpiresAt = &expires
				}
				guards = append(guards, g)
				return nil
			}, query+list, args...)
		})
	}
	err := read(GuardCompressionLock, ids,
		`SELECT session_id, holder, +expires_at FROM compression_locks WHERE session_id IN `,
		func(key string) string { return key })
	if err == nil {
		err = read(GuardTurnLease, keys,
			`SELECT conversation_id, holder, +expires_at FROM session_turn_leases WHERE conversation_id IN `,
			func(key string) string { return protects[key] })
	}
	slices.SortStableFunc(guards, func(a, b Guard) int {
		if d := order[a.SessionID] - order[b.SessionID]; d != 0 {
			return d
		}
		return strings.Compare(string(a.Kind), string(b.Kind))
	})
	return guards, classify("read the turn leases and compression locks", err)
}

// removeGuards deletes stale guards as they were read.
func (c *conn) removeGuards(ctx context.Context, stale []Guard) error {
	statements := map[GuardKind]string{
		GuardCompressionLock: `DELETE FROM compression_locks WHERE session_id = ? AND coalesce(holder, '') = ?`,
		GuardTurnLease:       `DELETE FROM session_turn_leases WHERE conversation_id = ? AND coalesce(holder, '') = ?`,
	}
	for _, g := range stale {
		if _, err := c.ExecContext(ctx, statements[g.Kind], g.key, g.Holder); err != nil {
			return classify("remove a stale guard", err)
		}
	}
	return nil
}

// guardsOf reads the guards of the ids and tells the live ones from the stale ones.
func (c *conn) guardsOf(ctx context.Context, ids []string, g *graph) (guards judged, err error) {
	all, err := c.readGuards(ctx, ids, g.leaseRoots(ids))
	if err != nil {
		return judged{}, err
	}
	return judge(all, now(), holderDead), nil
}

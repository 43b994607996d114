package statedb

import "context"

// Counted is what a delete does not take of one kind, and why: what it leaves behind though it concerned the sessions, or what it
// retains on purpose (contract 4).
type Counted struct {
	Kind  string // a table, or one of the words of contract 5b.4
	Count int
	Why   string // for a person
}

// leftBehindCanonical counts what the canonical path leaves though it concerned the ids: the Agent's record that a local
// conversation is older than its policy.
func (c *conn) leftBehindCanonical(ctx context.Context, ids []string) ([]Counted, error) {
	n, err := c.countRecords(ctx, prefixed(localLegacyPrefix, ids))
	if err != nil || n == 0 {
		return nil, classify("count the records of older local conversations", err)
	}
	return []Counted{{"gateway.local_legacy", n, "the Agent knows older local conversations by these records"}}, nil
}

// leftBehind counts what the legacy path leaves in the store though it concerned the ids: routes that name one of them, and
// prompts that no other session uses.
func (c *conn) leftBehind(ctx context.Context, s *schema, ids []string) ([]Counted, error) {
	var left []Counted
	if s.has("gateway_routing", "entry_json") {
		routes, err := c.countIn(ctx, ids, `SELECT count(*) FROM gateway_routing WHERE TRUE`+c.narrow(routingEntries, ids)+
			` AND `+sessionOfRoute+` IN `)
		if err != nil {
			return nil, classify("count the routes", err)
		}
		if routes > 0 {
			left = append(left, Counted{"gateway_routing", routes, "these routes still name the session"})
		}
	}
	prompts, err := c.lonelyPrompts(ctx, s, ids)
	if err != nil {
		return nil, classify("count the system prompts", err)
	}
	if prompts > 0 {
		left = append(left, Counted{promptsTable, prompts, "no session uses these prompts any more"})
	}
	return left, nil
}

// lonelyPrompts counts the system prompts whose users are all among the ids.
func (c *conn) lonelyPrompts(ctx context.Context, s *schema, ids []string) (int, error) {
	if !s.has(promptsTable, "hash") || !s.has("sessions", "system_prompt_hash") {
		return 0, nil
	}
	going := map[string]int{}
	err := c.eachCount(ctx, ids, going, `SELECT p.hash, count(*) FROM sessions s JOIN system_prompts p
		ON p.hash = s.system_prompt_hash WHERE s.id IN `, ` GROUP BY p.hash`)
	if err != nil {
		return 0, err
	}
	users := map[string]int{}
	most := 0
	for _, n := range going {
		most = max(most, n)
	}
	// Of a prompt that others use too, it is enough to find one user more than go.
	err = inChunks(sortedKeys(going), func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var hash string
			var n int
			if err := scan(&hash, &n); err != nil {
				return err
			}
			users[hash] = n
			return nil
		}, `WITH going(hash) AS (VALUES `+rowsOfOne(list)+`) SELECT hash, (SELECT count(*) FROM (
			SELECT 1 FROM sessions WHERE system_prompt_hash = going.hash LIMIT ?)) FROM going`, append(args, most+1)...)
	})
	lonely := 0
	for hash, n := range going {
		if users[hash] == n {
			lonely++
		}
	}
	return lonely, err
}

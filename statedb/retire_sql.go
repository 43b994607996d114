package statedb

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// This file holds all SQL that changes rows on the canonical path (contract 5b.4).

// removeCanonical keeps one order: what is to be remembered is written first; then the ledger's rows, which a trigger and
// the foreign keys hold the sessions with; then what leads to the sessions; then they themselves.
func (t *Tx) removeCanonical(ctx context.Context, plan *Plan) error {
	c, s, r, ids := t.conn, plan.schema, plan.retirement, plan.IDs()
	for _, step := range []func() error{
		func() error { return c.setAsideIndexes(ctx, plan.StaleIndexes) },
		func() error { return c.removeGuards(ctx, plan.stale) },
		func() error { return c.retire(ctx, plan, func(o *outcome) error { return c.carryOut(ctx, s, o) }) },
		func() error { return c.dropLedger(ctx, ids) },
		func() error { return c.dropWhatLeadsHere(ctx, s, ids) },
		func() error { return c.raiseGenerations(ctx, s, ids) },
		func() error { return c.notePrompts(ctx, ids) },
		func() error { return c.deleteRows(ctx, s, ids, detachAndRevise) },
		func() error { return c.dropUnusedPrompts(ctx, s) },
		func() error { return c.noteSpilled(ctx, r.operation, ids, r.spilled) },
		func() error { return c.noteRoutes(ctx, r, ids) },
		func() error { return c.proveGone(ctx, s, ids) },
		func() error { return c.proveRetired(ctx, r, ids) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	c.forgetSurvey(historyValues) // records of many kinds were written, which only the legacy path asks for
	return nil
}

// noteRoutes notes which routes are to be fenced in the base home, if the home shares its routes.
func (c *conn) noteRoutes(ctx context.Context, r *retirement, ids []string) error {
	if !r.intent {
		return nil
	}
	return c.writeRouteIntent(ctx, r.operation, ids)
}

// carryOut writes what is to be remembered of a part of the ledger, and removes the records that go.
func (c *conn) carryOut(ctx context.Context, s *schema, o *outcome) error {
	if err := c.putRecords(ctx, "write state_meta", o.puts); err != nil {
		return err
	}
	if s.hasTriggerOn("state_meta") {
		written, err := c.records(ctx, s, sortedKeys(o.puts))
		if err != nil {
			return classify("read state_meta", err)
		}
		if !maps.Equal(written, o.puts) {
			return unsupported("a trigger of the store changed a record that was written")
		}
	}
	return classify("clear state_meta", c.removeRecords(ctx, o.drops))
}

// detachAndRevise lets children go of their parent and tells their readers that something changed.
const detachAndRevise = `UPDATE sessions SET parent_session_id = NULL, runtime_revision = coalesce(runtime_revision, 0) + 1
	WHERE parent_session_id IN `

// dropLedger removes the rows whose retirement is written.
func (c *conn) dropLedger(ctx context.Context, ids []string) error {
	return c.inEach(ctx, "clear the runtime ledger", ids,
		`DELETE FROM worker_receipts WHERE execution_id IN (SELECT execution_id FROM worker_executions WHERE session_id IN LIST)`,
		`DELETE FROM worker_executions WHERE session_id IN LIST`,
		`DELETE FROM session_admissions WHERE target_session_id IN LIST`)
}

// inEach runs each statement for all of the keys, in chunks; LIST stands for a chunk.
func (c *conn) inEach(ctx context.Context, doing string, keys []string, statements ...string) error {
	for _, statement := range statements {
		err := inChunks(keys, func(list string, args []any) error {
			_, err := c.ExecContext(ctx, strings.Replace(statement, "LIST", list, 1), args...)
			return err
		})
		if err != nil {
			return classify(doing, err)
		}
	}
	return nil
}

// leadingHere are what leads a new message to one of the targets, which LIST stands for: local policies whose current entry is
// one, names of the API's conversations, and routes. What is malformed names nothing and stays.
var leadingHere = []struct {
	table, condition string
	source           nameSource
}{
	{"state_meta", within(localPolicyPrefix) + ` AND ` + entryOfPolicy + ` IN LIST`, policyEntries},
	{"state_meta", within(apiConversationPrefix) + ` AND value IN LIST`, apiConversations},
	{"gateway_routing", sessionOfRoute + ` IN LIST`, routingEntries},
}

const (
	entryOfPolicy  = `CASE WHEN json_valid(value) THEN json_extract(value, '$.entry.session_id') END`
	sessionOfRoute = `CASE WHEN json_valid(entry_json) AND json_type(entry_json) = 'object' THEN json_extract(entry_json, '$.session_id') END`
)

func (c *conn) dropWhatLeadsHere(ctx context.Context, s *schema, ids []string) error {
	for _, l := range leadingHere {
		err := c.inEach(ctx, "remove what leads to the sessions", ids, `DELETE FROM `+l.table+` WHERE `+l.condition+c.narrow(l.source, ids))
		if err == nil && s.hasTriggerOn(l.table) {
			err = c.refuseLeft(ctx, ids, `SELECT 1 FROM `+l.table+` WHERE `+l.condition)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// raiseGenerations counts up for each target with a source and a session key: whoever still holds the older number learns
// that the conversation is another one now.
func (c *conn) raiseGenerations(ctx context.Context, s *schema, ids []string) error {
	type pair struct{ source, key string }
	count := map[pair]int{}
	var order []pair
	if !s.has("sessions", "source", "session_key") {
		return nil
	}
	err := inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var p pair
			if err := scan(&p.source, &p.key); err != nil {
				return err
			}
			p = pair{strings.TrimFunc(p.source, isPythonSpace), strings.TrimFunc(p.key, isPythonSpace)}
			if p.source == "" || p.key == "" {
				return nil
			}
			if count[p] == 0 {
				order = append(order, p)
			}
			count[p]++
			return nil
		}, `SELECT source, session_key FROM sessions WHERE typeof(source) = 'text' AND typeof(session_key) = 'text' AND id IN `+list, args...)
	})
	if err != nil {
		return classify("read the session keys", err)
	}
	for len(order) > 0 {
		n := min(len(order), recordsPerStatement)
		var args []any
		for _, p := range order[:n] {
			args = append(args, p.source, p.key, count[p])
		}
		order = order[n:]
		_, err := c.ExecContext(ctx, `INSERT INTO conversation_generations (source, session_key, generation) VALUES (?, ?, ?)`+
			strings.Repeat(", (?, ?, ?)", n-1)+
			` ON CONFLICT (source, session_key) DO UPDATE SET generation = generation + excluded.generation`, args...)
		if err != nil {
			return classify("raise the conversation's generation", err)
		}
	}
	return nil
}

// dropUnusedPrompts removes the system prompts that no session uses any more.
func (c *conn) dropUnusedPrompts(ctx context.Context, s *schema) error {
	if !s.has(promptsTable, "hash") || !s.has("sessions", "system_prompt_hash") {
		return nil
	}
	unused := `NOT EXISTS (SELECT 1 FROM sessions WHERE system_prompt_hash = system_prompts.hash)`
	_, err := c.ExecContext(ctx, `DELETE FROM system_prompts WHERE `+unused+c.narrow(unusedPrompts, nil))
	if err == nil && s.hasTriggerOn(promptsTable) {
		left, missing := c.exists(ctx, `SELECT 1 FROM system_prompts WHERE `+unused)
		if err = missing; left {
			err = keptByTrigger()
		}
	}
	return classify("remove the unused system prompts", err)
}

func keptByTrigger() error { return unsupported("a trigger of the store kept rows that were to go") }

// refuseLeft is ErrUnsupported where a query still finds something of the keys, which LIST stands for.
func (c *conn) refuseLeft(ctx context.Context, keys []string, query string) error {
	return classify("look whether the rows are gone", inChunks(keys, func(list string, args []any) error {
		found, err := c.exists(ctx, strings.Replace(query, "LIST", list, 1), args...)
		if err == nil && found {
			err = keptByTrigger()
		}
		return err
	}))
}

// proveRetired looks whether the ledger is clear and every record is as it was to be: a trigger may undo either without an
// error.
func (c *conn) proveRetired(ctx context.Context, r *retirement, ids []string) error {
	for _, left := range []struct {
		query string
		keys  []string
	}{
		{`SELECT 1 FROM session_admissions WHERE target_session_id IN LIST`, ids},
		{`SELECT 1 FROM worker_executions WHERE session_id IN LIST`, ids},
		{`SELECT 1 FROM worker_receipts WHERE execution_id IN LIST`, r.ended},
	} {
		if err := c.refuseLeft(ctx, left.keys, left.query); err != nil {
			return err
		}
	}
	left, err := c.countRecords(ctx, r.drops)
	if err == nil && left > 0 {
		err = keptByTrigger()
	}
	if err != nil {
		return classify("look whether the records are gone", err)
	}
	kept := setOf(slices.Concat(sortedKeys(r.records), prefixed(retiredSessionPrefix, ids)))
	there, err := c.countRecords(ctx, sortedKeys(kept))
	if err == nil && there != len(kept) {
		err = unsupported("a trigger of the store removed a record that was to stay")
	}
	return classify("look whether every record is there", err)
}

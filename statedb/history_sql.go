package statedb

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// The downgrade fence (contract 5.5): a store may hold the runtime history of an Agent that is newer than the installed
// one. The legacy path must not take a conversation that this history names, since it could not retire it. This file
// holds the fence and all its SQL; the family that it asks about is graph.logicalFamily.

// historyTables are the ledger's columns that name a session.
var historyTables = []struct{ table, column string }{
	{"session_admissions", "target_session_id"},
	{"worker_executions", "session_id"},
}

// refuseRuntimeHistory is ErrRuntimeHistory where a newer Agent's history names one of the family. chatIDs are the
// family's. A missing table names nothing.
func (c *conn) refuseRuntimeHistory(ctx context.Context, s *schema, family, chatIDs []string) error {
	for _, h := range historyTables {
		if !s.has(h.table, h.column) {
			continue
		}
		err := inChunks(family, func(list string, args []any) error {
			found, err := c.exists(ctx, "SELECT 1 FROM "+h.table+" WHERE "+h.column+" IN "+list, args...)
			if err == nil && found {
				err = &Error{Kind: ErrRuntimeHistory, Detail: namedIn(h.table)}
			}
			return err
		})
		if err != nil {
			return classify("read the runtime ledger", err)
		}
	}
	if !s.hasRecords() {
		return nil
	}
	if err := c.refuseKeys(ctx, family, chatIDs); err != nil {
		return classify("read state_meta", err)
	}
	return classify("read state_meta", c.refuseValues(ctx, family))
}

func namedIn(place string) string {
	return "a newer Agent's runtime history names this conversation in " + place
}

// refuseKeys looks for the records that carry one of the ids in their key.
func (c *conn) refuseKeys(ctx context.Context, family, chatIDs []string) error {
	var keys []string
	for _, id := range slices.Concat(family, chatIDs) {
		keys = append(keys, localPolicyPrefix+id)
	}
	for _, id := range family {
		keys = append(keys, retiredSessionPrefix+id)
	}
	found, err := c.countRecords(ctx, keys)
	if err == nil && found > 0 {
		err = &Error{Kind: ErrRuntimeHistory, Detail: namedIn("the keys of state_meta")}
	}
	return err
}

// namingValues finds the gateway's records whose value is a JSON object that names one of the ids. json_each shows every
// occurrence of a repeated key, so no reader's choice among them can hide a name.
func namingValues(narrow string) string {
	return `
WITH family(id) AS (SELECT value FROM json_each(?1))
SELECT 1 FROM state_meta m WHERE ` + within(gatewayPrefix) + narrow + `
AND CASE WHEN json_valid(m.value) AND json_type(m.value) = 'object' THEN EXISTS (
  SELECT 1 FROM json_each(m.value) top WHERE
    (top.key IN ('session_id', 'target_session_id') AND top.type = 'text' AND top.value IN family)
    OR (top.key = 'lineage' AND top.type = 'array' AND EXISTS (
      SELECT 1 FROM json_each(top.value) member WHERE member.type = 'text' AND member.value IN family))
    OR (top.key = 'entry' AND top.type = 'object' AND EXISTS (
      SELECT 1 FROM json_each(top.value) field
      WHERE field.key = 'session_id' AND field.type = 'text' AND field.value IN family))) END`
}

func (c *conn) refuseValues(ctx context.Context, family []string) error {
	// JSON text can only name what JSON can spell, so an id that is no UTF-8 loses nothing here.
	ids, err := json.Marshal(family)
	if err != nil {
		return err
	}
	narrow := c.narrow(historyValues, slices.Concat(family, asSpelled(family)))
	found, err := c.exists(ctx, namingValues(narrow), string(ids))
	if err == nil && !found {
		found, err = c.pythonValueNames(ctx, family, narrow)
	}
	if err == nil && found {
		err = &Error{Kind: ErrRuntimeHistory, Detail: namedIn("the values of state_meta")}
	}
	return err
}

// pythonValueNames looks through the records that are JSON to the Agent's Python and not to SQLite: NaN and Infinity, or
// deeper than SQLite goes. There are few, if any.
func (c *conn) pythonValueNames(ctx context.Context, family []string, narrow string) (found bool, err error) {
	members := map[string]bool{}
	for _, id := range family {
		members[id] = true
	}
	err = c.each(ctx, func(scan scanFunc) error {
		var value string
		if err := scan(&value); err != nil {
			return err
		}
		found = found || namesOne(value, members)
		return nil
	}, `SELECT value FROM state_meta WHERE `+within(gatewayPrefix)+` AND value IS NOT NULL AND NOT json_valid(value)`+narrow)
	return found, err
}

// asSpelled gives ids as JSON spells them, which has no word for one that is no UTF-8.
func asSpelled(ids []string) []string {
	spelled := make([]string, len(ids))
	for i, id := range ids {
		spelled[i] = string([]rune(id))
	}
	return spelled
}

// namesOne tells whether a record names one of the ids in one of the fields of contract 5.5.
func namesOne(value string, ids map[string]bool) bool {
	record, _ := readPythonObject(strings.ToValidUTF8(value, "\uFFFD")) // whatever is broken in it, it may name one
	entry, _ := readObject(record["entry"])                             // one that is no object names nothing
	var lineage []json.RawMessage
	_ = json.Unmarshal(record["lineage"], &lineage)
	names := append(lineage, record["session_id"], record["target_session_id"], entry["session_id"])
	return slices.ContainsFunc(names, func(raw json.RawMessage) bool {
		id, ok := readString(raw)
		return ok && ids[id]
	})
}

package statedb

import (
	"context"
	"encoding/json"
	"slices"
)

// This file holds all SQL of the downgrade fence.

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

// refuseKeys looks for the records that carry one of the ids in their key.
func (c *conn) refuseKeys(ctx context.Context, family, chatIDs []string) error {
	keys := slices.Concat(prefixed(localPolicyPrefix, family), prefixed(localPolicyPrefix, chatIDs), prefixed(retiredSessionPrefix, family))
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
	members := setOf(family)
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

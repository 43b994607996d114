package statedb

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
)

// This file holds all SQL of a survey: one pass over each source, which finds at least what the statements find that ask for names
// there.

// surveySource passes over one source.
func (c *conn) surveySource(ctx context.Context, of nameSource) (*nameIndex, error) {
	x := newNameIndex()
	err := c.surveyRows(ctx, of, x, "")
	x.finish()
	return x, err
}

// readNoted reads again what has been changed since a source was passed over, so that the rows to be looked at do not grow with each
// delete. A row that is gone names nobody.
func (c *conn) readNoted(ctx context.Context, of nameSource, x *nameIndex) error {
	rows := sortedKeys(x.noted)
	x.addMore()
	for chunk := range slices.Chunk(rows, mostCandidates) {
		for _, row := range chunk {
			delete(x.always, row)
		}
		if err := c.surveyRows(ctx, of, x, onlyRows(chunk)); err != nil {
			return err
		}
	}
	x.finish()
	clear(x.noted)
	return nil
}

// surveyRows enters what the rows of a source name, all of them or those that narrow leaves.
func (c *conn) surveyRows(ctx context.Context, of nameSource, x *nameIndex, narrow string) (err error) {
	switch of {
	case markersAsPython:
		err = c.each(ctx, func(scan scanFunc) error {
			var row int64
			var id, parent, config sql.NullString
			if err := scan(&row, &id, &parent, &config); err != nil {
				return err
			}
			if m := readMarkers(optional(config)); m.delegate.compound() {
				x.addAlways(row) // which refuses every delete
			} else if target, ok := m.delegate.target(); ok {
				x.add(target, row)
			}
			return nil
		}, foreignMarkers("rowid, ", narrow))
	case markersAsSQLite:
		err = c.surveyNames(ctx, x, foreignNames("rowid", narrow))
	case mutationReceipts:
		err = c.surveyNames(ctx, x, mutationNames+narrow)
	case policyEntries, apiConversations, routingEntries:
		err = c.surveyNames(ctx, x, surveyLeads[of]+narrow)
	case historyValues:
		err = c.surveyHistory(ctx, x, narrow)
	case unusedPrompts:
		err = c.each(ctx, func(scan scanFunc) error {
			var row int64
			if err := scan(&row); err != nil {
				return err
			}
			x.addAlways(row)
			return nil
		}, `SELECT rowid FROM system_prompts WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE system_prompt_hash = system_prompts.hash)`+narrow)
	}
	return err
}

// surveyNames enters what a query finds: the number of a row, then names. Whatever is no text may be compared loosely, and is always
// looked at.
func (c *conn) surveyNames(ctx context.Context, x *nameIndex, query string) error {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var row int64
	names, into := make([]any, len(columns)-1), []any{&row}
	for i := range names {
		into = append(into, &names[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, name := range names {
			switch text := name.(type) {
			case nil:
			case string:
				if i == 0 || name != names[i-1] {
					x.add(text, row)
				}
			default:
				x.addAlways(row)
			}
		}
	}
	return rows.Err()
}

var mutationNames = func() string {
	query := "SELECT rowid"
	for _, path := range namedByMutation {
		query += ", json_extract(value, '" + path + "')"
	}
	return query + " FROM state_meta WHERE " + within(mutationPrefix) + " AND typeof(value) = 'text' AND json_valid(value)"
}()

// surveyLeads says what leadingHere compares. The plus sign keeps a value from being read as its column is declared.
var surveyLeads = map[nameSource]string{
	policyEntries:    "SELECT rowid, " + entryOfPolicy + " FROM state_meta WHERE " + within(localPolicyPrefix) + " AND " + entryOfPolicy + " IS NOT NULL",
	apiConversations: "SELECT rowid, +value FROM state_meta WHERE " + within(apiConversationPrefix),
	routingEntries:   "SELECT rowid, " + sessionOfRoute + " FROM gateway_routing WHERE " + sessionOfRoute + " IS NOT NULL",
}

// surveyHistory enters what the records of the gateway name in the fields of contract 5.5. A record that only Python reads, or that
// spells a name in a way that is to be looked at closely, is always looked at.
func (c *conn) surveyHistory(ctx context.Context, x *nameIndex, narrow string) error {
	from := ` FROM state_meta WHERE ` + within(gatewayPrefix) + ` AND value IS NOT NULL` + narrow + ` AND `
	err := c.each(ctx, func(scan scanFunc) error {
		var row int64
		var value string
		if err := scan(&row, &value); err != nil {
			return err
		}
		if isJSONObject(value) {
			x.addAlways(row)
		}
		return nil
	}, `SELECT rowid, value`+from+`NOT json_valid(value)`)
	if err != nil {
		return err
	}
	return c.each(ctx, func(scan scanFunc) error {
		var row int64
		var key, kind string
		var value any
		if err := scan(&row, &key, &kind, &value); err != nil {
			return err
		}
		text, _ := value.(string)
		names, plain := namesIn(key, kind, text)
		if !plain {
			x.addAlways(row)
		}
		for _, name := range names {
			x.add(name, row)
		}
		return nil
	}, `SELECT m.rowid, top.key, top.type, top.value FROM (
		SELECT rowid, value`+from+`json_valid(value) AND json_type(value) = 'object') m, json_each(m.value) top
		WHERE top.key IN ('session_id', 'target_session_id') AND top.type = 'text' OR top.key = 'lineage' AND top.type = 'array'
		OR top.key = 'entry' AND top.type = 'object'`)
}

// namesIn reads one field of a record, as json_each gives it, and tells whether that is certainly all that it names.
func namesIn(key, kind, text string) (names []string, plain bool) {
	switch {
	case kind == "text":
		return []string{text}, true
	case key == "lineage":
		var members []any
		if strings.Contains(text, `\`) || json.Unmarshal([]byte(text), &members) != nil {
			return nil, false
		}
		for _, member := range members {
			if name, is := member.(string); is {
				names = append(names, name)
			}
		}
		return names, true
	}
	var entry map[string]any
	if json.Unmarshal([]byte(text), &entry) != nil || strings.Count(text, "session_id") > 1 || strings.Contains(text, `\`) {
		return nil, false // of a name that stands there twice each counts
	}
	if name, is := entry["session_id"].(string); is {
		names = append(names, name)
	}
	return names, true
}

// noteChildren has children of the ids looked at that a delete makes roots: a marker that named the parent names another row then.
func (c *conn) noteChildren(ctx context.Context, ids []string) error {
	return c.noteRows(ctx, []nameSource{markersAsPython, markersAsSQLite}, ids, "SELECT rowid FROM sessions WHERE parent_session_id IN LIST")
}

// notePrompts has the system prompts of the ids looked at when their sessions are gone.
func (c *conn) notePrompts(ctx context.Context, ids []string) error {
	return c.noteRows(ctx, []nameSource{unusedPrompts}, ids,
		"SELECT rowid FROM system_prompts WHERE hash IN (SELECT system_prompt_hash FROM sessions WHERE id IN LIST)")
}

// noteRecords has records looked at that were written.
func (c *conn) noteRecords(ctx context.Context, keys []string) error {
	for of, prefix := range map[nameSource]string{
		mutationReceipts: mutationPrefix, policyEntries: localPolicyPrefix, apiConversations: apiConversationPrefix,
	} {
		var within []string
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				within = append(within, key)
			}
		}
		if err := c.noteRows(ctx, []nameSource{of}, within, "SELECT rowid FROM state_meta WHERE key IN LIST"); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) noteRows(ctx context.Context, of []nameSource, keys []string, query string) error {
	for _, one := range of {
		if c.surveyOf(one) == nil {
			continue
		}
		err := inChunks(keys, func(list string, args []any) error {
			return c.each(ctx, func(scan scanFunc) error {
				var row int64
				if err := scan(&row); err != nil {
					return err
				}
				c.surveyOf(one).note(row)
				return nil
			}, strings.ReplaceAll(query, "LIST", list), args...)
		})
		if err != nil {
			return classify("note what changes", err)
		}
	}
	return nil
}

package statedb

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// This file holds how local policies and the rows around them are read, with all SQL for it. No statement runs once per member, nor
// once per message.

// localMembers gives the ids that a local policy makes one conversation with id, the owner first, or id alone where no
// policy speaks of it (contract 5b.1, and the owner of 5b.2). A policy that does not hold is ErrReceiptInvalid.
func (c *conn) localMembers(ctx context.Context, s *schema, id string) ([]string, error) {
	chat, err := c.chatOf(ctx, s, id)
	if err != nil {
		return nil, err
	}
	records, err := c.records(ctx, s, prefixed(localPolicyPrefix, []string{chat, id}))
	if err != nil {
		return nil, classify("read the local policies", err)
	}
	if record, ok := records[localPolicyPrefix+chat]; ok && chat != "" {
		p, rows, err := c.validPolicy(ctx, s, chat, record)
		if err != nil {
			return nil, err
		}
		if fault := p.memberFault(rows); fault != "" {
			return nil, receiptInvalid(chat, fault)
		}
		if slices.Contains(p.lineage, id) {
			return p.lineage, nil
		}
	}
	record, ok := records[localPolicyPrefix+id]
	if !ok {
		return []string{id}, nil
	}
	p, _, err := c.validPolicy(ctx, s, id, record)
	return p.lineage, err
}

// validPolicy is the policy of an owner, with a valid lineage, and the rows around it.
func (c *conn) validPolicy(ctx context.Context, s *schema, owner, record string) (policy, localRows, error) {
	p, ok := parsePolicy(record)
	if !ok {
		return policy{}, localRows{}, receiptInvalid(owner, "it is no JSON object")
	}
	// What the record says by itself comes first: it bounds how many rows are read.
	if fault := p.recordFault(owner); fault != "" {
		return policy{}, localRows{}, receiptInvalid(owner, fault)
	}
	rows, err := c.readLocalRows(ctx, s, p)
	if err != nil {
		return policy{}, localRows{}, classify("read a local conversation", err)
	}
	if fault := p.lineageFault(rows); fault != "" {
		return policy{}, localRows{}, receiptInvalid(owner, fault)
	}
	return p, rows, nil
}

func receiptInvalid(owner, fault string) error {
	return &Error{
		Kind:   ErrReceiptInvalid,
		Detail: fmt.Sprintf("the policy of the local conversation %.200q does not hold: %s", owner, fault),
	}
}

// chatOf is the chat_id of a session's row, empty where it is not set.
func (c *conn) chatOf(ctx context.Context, s *schema, id string) (chat string, err error) {
	if !s.has("sessions", "chat_id") {
		return "", nil
	}
	err = c.each(ctx, func(scan scanFunc) error { return scan(&chat) },
		`SELECT chat_id FROM sessions WHERE id = ? AND typeof(chat_id) = 'text'`, id)
	return chat, classify("read the session's chat", err)
}

// readLocalRows reads a policy's members, who may continue those that ended by compression, and the record of an older
// session.
func (c *conn) readLocalRows(ctx context.Context, s *schema, p policy) (localRows, error) {
	rows := localRows{members: map[string]*localRow{}, candidates: map[string][]*localRow{}}
	if p.legacySessionID != nil {
		key := localLegacyPrefix + *p.legacySessionID
		records, err := c.records(ctx, s, []string{key})
		if err != nil {
			return localRows{}, err
		}
		if record, there := records[key]; there {
			rows.legacy = &record
		}
	}
	var compressed []string
	err := c.eachLocalRow(ctx, s, "id", p.lineage, func(row *localRow) {
		rows.members[row.id] = row
		if row.ended(endCompression) {
			compressed = append(compressed, row.id)
		}
	})
	if err != nil {
		return localRows{}, err
	}
	err = c.eachLocalRow(ctx, s, "parent_session_id", compressed, func(row *localRow) {
		if row.parent != nil && row.mayContinue() {
			rows.candidates[*row.parent] = append(rows.candidates[*row.parent], row)
		}
	})
	if err != nil {
		return localRows{}, err
	}
	return rows, c.readNewestMessages(ctx, s, rows.candidates)
}

// eachLocalRow reads the rows of sessions whose column is one of the ids. The plus sign hides a column's declared type, which
// the driver would otherwise obey.
func (c *conn) eachLocalRow(ctx context.Context, s *schema, column string, ids []string, use func(*localRow)) error {
	columns := []string{"id"}
	for _, name := range []string{"parent_session_id", "chat_id", "user_id", "session_key"} {
		columns = append(columns, orNull(s, name, "CASE WHEN typeof("+name+") = 'text' THEN "+name+" END"))
	}
	for _, name := range []string{"source", "end_reason", "model_config", "started_at", "ended_at", "last_activity_at"} {
		columns = append(columns, orNull(s, name, "+"+name))
	}
	query := `SELECT ` + strings.Join(columns, ", ") + ` FROM sessions WHERE typeof(id) = 'text' AND ` + column + ` IN `
	return inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var row localRow
			var config *string
			err := scan(&row.id, &row.parent, &row.chatID, &row.userID, &row.sessionKey, &row.source, &row.endReason, &config,
				&row.startedAt, &row.endedAt, &row.lastActivity)
			if err != nil {
				return err
			}
			row.markers = readMarkers(config)
			use(&row)
			return nil
		}, query+list, args...)
	})
}

// newestMessages takes each session's newest time through the index over both columns. The two tests of the type let no
// other value pass whatever the column is declared as.
var newestMessages = fmt.Sprintf(`SELECT s.id, (
  SELECT m.timestamp FROM messages m WHERE m.session_id = s.id AND m.timestamp BETWEEN %d AND %d
    AND typeof(m.timestamp) IN ('integer', 'real') ORDER BY m.timestamp DESC LIMIT 1)
FROM sessions s WHERE s.id IN `, earliest, latest)

// readNewestMessages looks for the newest message of the candidates whose order it can decide.
func (c *conn) readNewestMessages(ctx context.Context, s *schema, candidates map[string][]*localRow) error {
	if !s.has("messages", "timestamp") {
		return nil
	}
	rivals := map[string]*localRow{}
	for _, children := range candidates {
		if best := contenders(children); len(best) > 1 {
			for _, row := range best {
				rivals[row.id] = row
			}
		}
	}
	return inChunks(sortedKeys(rivals), func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var id string
			var newest any
			if err := scan(&id, &newest); err != nil {
				return err
			}
			rivals[id].newestMessage = newest
			return nil
		}, newestMessages+list, args...)
	})
}

// policiesNaming reads the local policies that name one of the ids, and the owners of those that cannot be read. What SQLite can
// read is looked through by SQLite: there may be thousands, and they are parsed for a few.
func (c *conn) policiesNaming(ctx context.Context, ids []string) (naming []policy, unreadable map[string]bool, err error) {
	records := map[string]string{}
	err = inChunks(ids, func(list string, args []any) error {
		return c.each(ctx, func(scan scanFunc) error {
			var key, value string
			if err := scan(&key, &value); err != nil {
				return err
			}
			records[key] = value
			return nil
		}, `WITH targets(id) AS (VALUES `+rowsOfOne(list)+`)
			SELECT key, CASE WHEN typeof(value) = 'text' THEN value ELSE '' END FROM state_meta WHERE `+within(localPolicyPrefix)+`
			AND CASE WHEN json_valid(value) THEN json_type(value) <> 'object' OR json_extract(value, '$.session_id') IN targets
				OR json_extract(value, '$.entry.session_id') IN targets
				OR EXISTS (SELECT 1 FROM json_each(state_meta.value, '$.lineage') WHERE json_each.value IN targets)
			ELSE 1 END`, args...)
	})
	named := setOf(ids)
	unreadable = map[string]bool{}
	for _, key := range sortedKeys(records) {
		p, ok := parsePolicy(records[key])
		if !ok {
			unreadable[strings.TrimPrefix(key, localPolicyPrefix)] = true
		}
		if slices.ContainsFunc(p.ids(), func(id string) bool { return named[id] }) {
			naming = append(naming, p)
		}
	}
	return naming, unreadable, classify("read the local policies", err)
}

// readLocals reads the local policies of the sessions that have children, and gives the conversations that they make of several
// sessions, by owner; an owner without a child stands alone, whatever its record says. A record that no delete accepts by itself makes
// none.
func (c *conn) readLocals(ctx context.Context, all *graph) (map[string]*local, error) {
	var keys []string
	for _, owner := range sortedKeys(all.children) {
		if all.rows[owner] != nil {
			keys = append(keys, localPolicyPrefix+owner)
		}
	}
	locals := map[string]*local{}
	err := c.eachUnderKeys(ctx, keys, func(key, value string) {
		owner := strings.TrimPrefix(key, localPolicyPrefix)
		if p, ok := parsePolicy(value); ok && p.recordFault(owner) == "" {
			if l := all.newLocal(p.lineage); l != nil {
				locals[owner] = l
			}
		}
	})
	return locals, classify("read the local policies", err)
}

package statedb

import (
	"context"
	"slices"
	"strings"

	"session-sidecar/internal/home"
)

// This file holds the SQL that asks which spilled files messages name, and that notes those that are to go.

// spilledBy tells which of the files a message of the ids names, sorted. It must be asked before the messages go. Only
// messages that hold the name of a spill folder are read.
func (c *conn) spilledBy(ctx context.Context, s *schema, ids, files []string) ([]string, error) {
	reader := newSpillReader(files)
	if len(reader.files) == 0 {
		return nil, nil
	}
	var cells, holds []string
	for _, column := range sortedKeys(s.columns["messages"]) {
		var words []string
		for _, folder := range home.SpillFolders {
			words = append(words, "instr("+quoted(column)+", '"+nameOf(folder)+"') > 0")
		}
		names := "typeof(" + quoted(column) + ") IN ('text', 'blob') AND (" + strings.Join(words, " OR ") + ")"
		holds = append(holds, "("+names+")")
		cells = append(cells, "CASE WHEN "+names+" THEN "+quoted(column)+" END")
	}
	query := "SELECT rowid, " + strings.Join(cells, ", ") + " FROM messages WHERE (" + strings.Join(holds, " OR ") + ") AND session_id IN "
	err := inChunks(ids, func(list string, args []any) error {
		return c.eachText(ctx, len(cells), func(_ int64, text string) error { reader.read(text); return nil }, query+list, args...)
	})
	return sortedKeys(reader.named), classify("look which spilled files the messages name", err)
}

// noteSpilled notes the named files, for them to follow after the commit. Who else names them is asked then: a pass over all
// messages would keep the write lock for too long here (contract 5b.5).
func (c *conn) noteSpilled(ctx context.Context, operationID string, ids, named []string) error {
	if len(named) == 0 {
		return nil
	}
	return c.writeSpillNote(ctx, SpillNote{operationID, slices.Sorted(slices.Values(named)), ids})
}

// writeSpillNote puts a note in the place of the one that there is.
func (c *conn) writeSpillNote(ctx context.Context, note SpillNote) error {
	text, err := note.encode()
	if err != nil {
		return unsupported("a session id cannot be noted: %v", err)
	}
	return c.putRecords(ctx, "write state_meta", map[string]string{spillPrefix + note.OperationID: text})
}

// RewriteSpillNote leaves of a note what is still to go; one with nothing left goes.
func (t *Tx) RewriteSpillNote(ctx context.Context, note SpillNote) error {
	if len(note.Files) == 0 {
		return classify("remove a note of spilled files", t.conn.removeRecords(ctx, []string{spillPrefix + note.OperationID}))
	}
	return t.conn.writeSpillNote(ctx, note)
}

// spillNotes lists the notes, by operation id.
func (c *conn) spillNotes(ctx context.Context, s *schema) (notes []SpillNote, err error) {
	var ids []string
	err = c.eachUnder(ctx, spillPrefix, func(key, value string) {
		if note, ok := parseSpillNote(strings.TrimPrefix(key, spillPrefix), value); ok {
			notes = append(notes, note)
			ids = append(ids, note.SessionIDs...)
		}
	})
	if err != nil || len(notes) == 0 {
		return nil, classify("read the notes of spilled files", err)
	}
	// A note is believed no more than the tombstones beside it: without them nobody deleted what it speaks of.
	retired, err := c.sessionFences(ctx, s, ids)
	return slices.DeleteFunc(notes, func(n SpillNote) bool {
		return len(n.Files) > 0 && !slices.ContainsFunc(n.SessionIDs, func(id string) bool { _, known := retired[id]; return known })
	}), classify("read the tombstones", err)
}

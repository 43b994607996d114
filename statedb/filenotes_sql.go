package statedb

import (
	"context"
	"encoding/json"
)

// This file holds the SQL over the notes of files that may have to go: media that was retired, and spilled tool output
// (contract 5b.5). Who still mentions one of them is asked in mentions_sql.go.

// NotedMedia is media that a retirement has noted.
type NotedMedia struct {
	Key    string
	Path   string
	SHA256 string
}

// FileNotes is what a store has noted of files that may have to go.
type FileNotes struct {
	Media   []NotedMedia
	Spilled []SpillNote
}

// Empty tells whether nothing is noted.
func (n FileNotes) Empty() bool { return len(n.Media) == 0 && len(n.Spilled) == 0 }

// NotedFiles reads what is noted in a store, from one snapshot, without the write lock. A store without the runtime ledger
// has no such notes, whatever its keys are.
func NotedFiles(ctx context.Context, path string) (notes FileNotes, err error) {
	err = read(ctx, path, "read which files are noted", func(c *conn) (err error) {
		notes, err = c.fileNotes(ctx)
		return err
	})
	return notes, err
}

// NotedFiles reads what is noted, as the look sees it.
func (l *Look) NotedFiles(ctx context.Context) (FileNotes, error) { return l.conn.fileNotes(ctx) }

// NotedFiles reads what is noted now, under the write lock.
func (t *Tx) NotedFiles(ctx context.Context) (FileNotes, error) { return t.conn.fileNotes(ctx) }

// ForgetMedia removes the notes of media that is gone.
func (t *Tx) ForgetMedia(ctx context.Context, media []NotedMedia) error {
	keys := make([]string, len(media))
	for i, one := range media {
		keys[i] = one.Key
	}
	return classify("remove the notes of media", t.conn.removeRecords(ctx, keys))
}

// fileNotes looks at the keys first: most stores have none of these, and need not be looked at any closer.
func (c *conn) fileNotes(ctx context.Context) (notes FileNotes, err error) {
	if some, err := c.anyFileNote(ctx); err != nil || !some {
		return notes, classify("read state_meta", err)
	}
	s, err := c.readSchema(ctx)
	if err != nil || !s.notesFiles() {
		return notes, err
	}
	if notes.Media, err = c.notedMedia(ctx); err == nil {
		notes.Spilled, err = c.spillNotes(ctx, s)
	}
	return notes, err
}

func (c *conn) anyFileNote(ctx context.Context) (bool, error) {
	var columns int
	err := c.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_xinfo('state_meta') WHERE lower(name) IN ('key', 'value')`).
		Scan(&columns)
	if err != nil || columns < 2 {
		return false, err
	}
	return c.anyUnder(ctx, mediaPrefix, spillPrefix)
}

// notesFiles tells whether the store is of the kind that the canonical path writes notes into, and can be asked who
// mentions a file.
func (s *schema) notesFiles() bool {
	return len(s.missingRuntime()) == 0 && s.has("messages", messageColumns...) && s.hasRecords() && s.has("session_admissions", "payload_json")
}

// notedMedia lists the media notes, by key. A record that is no media object, or whose key is that of another path, notes
// nothing.
func (c *conn) notedMedia(ctx context.Context) (media []NotedMedia, err error) {
	err = c.eachUnder(ctx, mediaPrefix, func(key, value string) {
		path, hash, ok := readMedia(json.RawMessage(value))
		if ok && hash != "" && key == mediaKey(path) {
			media = append(media, NotedMedia{key, path, hash})
		}
	})
	return media, err
}

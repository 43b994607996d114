package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// indexes are the Agent's full-text indexes: one of whole words, one of any three letters.
var indexes = []string{"messages_fts", "messages_fts_trigram"}

// row is a session as the store holds it.
type row struct {
	id, parent, title, rest string // rest: the other columns that the story fills
	role                    role
	messages                int
}

// search is a word asked of an index.
type search struct{ word, index string }

// snapshot is all that the demo speaks of, as it is at one moment.
type snapshot struct {
	rows     []row             // by id
	messages []string          // each with its session's id
	marks    []string          // rows of other tables that name a session: token counts and turn leases
	hits     map[search]int    // how many messages each search finds
	files    map[string]string // name in sessions/ -> content
}

// snapshot reads the store and the files.
func (s *store) snapshot(ctx context.Context) (*snapshot, error) {
	shot := &snapshot{hits: map[search]int{}, files: map[string]string{}}
	for _, read := range []func(context.Context, *snapshot) error{s.readRows, s.readMessages, s.readHits, s.readFiles} {
		if err := read(ctx, shot); err != nil {
			return nil, fmt.Errorf("look at the store: %w", err)
		}
	}
	return shot, nil
}

func (s *store) readRows(ctx context.Context, shot *snapshot) error {
	rows, err := s.db.QueryContext(ctx, `SELECT s.id, coalesce(s.parent_session_id, ''), coalesce(s.title, ''),
		concat_ws('|', s.source, s.model_config, s.started_at, s.ended_at, s.end_reason, s.message_count),
		CASE WHEN s.parent_session_id IS NULL THEN ''
		     WHEN json_extract(s.model_config, '$._branched_from') IS NOT NULL THEN 'branch'
		     WHEN json_extract(s.model_config, '$._delegate_from') IS NOT NULL THEN 'delegate'
		     ELSE 'goes on' END,
		(SELECT count(*) FROM messages m WHERE m.session_id = s.id)
		FROM sessions s ORDER BY s.id`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.id, &r.parent, &r.title, &r.rest, &r.role, &r.messages); err != nil {
			return err
		}
		shot.rows = append(shot.rows, r)
	}
	return rows.Err()
}

func (s *store) readMessages(ctx context.Context, shot *snapshot) (err error) {
	shot.messages, err = s.texts(ctx, `SELECT concat_ws('|', session_id, id, role, content, timestamp) FROM messages ORDER BY id`)
	if err == nil {
		shot.marks, err = s.texts(ctx, `SELECT concat_ws('|', 'usage', session_id, input_tokens) FROM session_model_usage
			UNION ALL SELECT concat_ws('|', 'lease', conversation_id, holder, expires_at) FROM session_turn_leases ORDER BY 1`)
	}
	return err
}

func (s *store) texts(ctx context.Context, query string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

// readHits asks the indexes alone, as a search of the Agent does: a row that is gone from messages but not from an index
// would still be a hit here.
func (s *store) readHits(ctx context.Context, shot *snapshot) error {
	for _, word := range searched {
		for _, index := range indexes {
			var n int
			err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM `+index+` WHERE `+index+` MATCH ?`, word).Scan(&n)
			if err != nil {
				return err
			}
			shot.hits[search{word, index}] = n
		}
	}
	return nil
}

func (s *store) readFiles(_ context.Context, shot *snapshot) error {
	folder := filepath.Join(s.home, "sessions")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		shot.files[e.Name()] = string(content)
	}
	return nil
}

// without is what a snapshot must look like once the ids are gone and nothing else has changed.
func (shot *snapshot) without(ids map[string]bool) *snapshot {
	gone := func(text string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(ids)), func(id string) bool { return strings.Contains(text, id) })
	}
	left := &snapshot{hits: expectedHits(ids), files: map[string]string{}}
	for _, r := range shot.rows {
		if ids[r.id] {
			continue
		}
		if ids[r.parent] { // a branch whose trunk is gone stands by itself
			r.parent, r.role = "", roleStart
		}
		left.rows = append(left.rows, r)
	}
	left.messages = slices.DeleteFunc(slices.Clone(shot.messages), gone)
	left.marks = slices.DeleteFunc(slices.Clone(shot.marks), gone)
	for name, content := range shot.files {
		if !gone(name) {
			left.files[name] = content
		}
	}
	return left
}

// expectedHits counts the searched words in the story itself, without the chats that are gone. The index of three
// letters leaves delegates out.
func expectedHits(gone map[string]bool) map[search]int {
	hits := map[search]int{}
	for _, word := range searched {
		for _, index := range indexes {
			n := 0
			for _, c := range story {
				if gone[c.id] || (index == "messages_fts_trigram" && c.source == subagent) {
					continue
				}
				for _, text := range c.said {
					if strings.Contains(strings.ToLower(text), word) {
						n++
					}
				}
			}
			hits[search{word, index}] = n
		}
	}
	return hits
}

// mustBe compares what is there with what must be.
func (shot *snapshot) mustBe(want *snapshot) error {
	switch {
	case !slices.Equal(shot.rows, want.rows):
		return fmt.Errorf("the store holds %d sessions that are not the %d expected ones", len(shot.rows), len(want.rows))
	case !slices.Equal(shot.messages, want.messages):
		return fmt.Errorf("the store holds %d messages that are not the %d expected ones", len(shot.messages), len(want.messages))
	case !slices.Equal(shot.marks, want.marks):
		return errors.New("the token counts and turn leases are not the expected ones")
	case !maps.Equal(shot.hits, want.hits):
		return fmt.Errorf("a search finds %v, not %v", shot.hits, want.hits)
	case !maps.Equal(shot.files, want.files):
		return fmt.Errorf("sessions/ holds %d files that are not the %d expected ones", len(shot.files), len(want.files))
	}
	return nil
}

// mustBeSound asks SQLite whether the store, its references and both indexes are whole.
func (s *store) mustBeSound(ctx context.Context) error {
	complaints, err := s.texts(ctx, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'
		UNION ALL SELECT "table" || ' refers to a row that is gone' FROM pragma_foreign_key_check`)
	if err != nil {
		return fmt.Errorf("check the store: %w", err)
	}
	if len(complaints) > 0 {
		return fmt.Errorf("the store is damaged: %s", complaints[0])
	}
	for _, index := range indexes {
		_, err := s.db.ExecContext(ctx, `INSERT INTO `+index+`(`+index+`, rank) VALUES ('integrity-check', 1)`)
		if err != nil {
			return fmt.Errorf("the index %s does not fit its messages: %w", index, err)
		}
	}
	return nil
}

package demo

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the store that the demo makes

	"session-sidecar/fixtures"
	"session-sidecar/internal/storeuri"
)

const (
	idTime = "20060102_150405" // an id begins with the moment when its session did
	pause  = 40 * time.Second  // between two messages
)

// store is the demo's own way into the store that it made. It plays the Agent: it stays open while the sidecar deletes.
type store struct {
	db   *sql.DB
	home string
}

// makeStore writes the story into a new store in home, and the files that an Agent keeps beside it.
func makeStore(ctx context.Context, home string) (*store, error) {
	if err := os.MkdirAll(filepath.Join(home, "sessions"), 0o700); err != nil {
		return nil, fmt.Errorf("make the temporary home: %w", err)
	}
	uri := storeuri.Of(filepath.Join(home, "state.db"), url.Values{"_journal_mode": {"WAL"}, "_foreign_keys": {"on"}, "_busy_timeout": {"5000"}})
	db, err := sql.Open("sqlite3", uri)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	s := &store{db, home}
	if _, err := db.ExecContext(ctx, fixtures.RuntimeSchema); err != nil {
		return s, fmt.Errorf("make the store: %w", err)
	}
	if err := s.writeStory(ctx); err != nil {
		return s, fmt.Errorf("write the made-up history: %w", err)
	}
	for _, c := range story {
		if err := s.writeFiles(c); err != nil {
			return s, fmt.Errorf("write the files of the made-up history: %w", err)
		}
	}
	return s, nil
}

func (s *store) close() error { return s.db.Close() }

func (s *store) writeStory(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `INSERT INTO system_prompts VALUES ('friendly', 'You are a friendly assistant.')`); err != nil {
		return err
	}
	for _, c := range story {
		if err := writeChat(ctx, tx, c); err != nil {
			return fmt.Errorf("session %s: %w", c.id, err)
		}
	}
	if err := s.settle(ctx, tx); err != nil {
		return fmt.Errorf("the settled request: %w", err)
	}
	return tx.Commit()
}

func writeChat(ctx context.Context, tx *sql.Tx, c chat) error {
	started, err := time.Parse(idTime, c.id[:len(idTime)])
	if err != nil {
		return err
	}
	last := started.Add(pause * time.Duration(len(c.said)))
	var ended any
	if c.ended != "" {
		ended = last.Unix()
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO sessions (id, source, model, model_config, system_prompt_hash,
		parent_session_id, started_at, ended_at, end_reason, message_count, title, last_activity_at)
		VALUES (?, ?, 'atlas-4', ?, 'friendly', nullif(?, ''), ?, ?, nullif(?, ''), ?, ?, ?)`,
		c.id, c.source, c.config(), c.parent, started.Unix(), ended, c.ended, len(c.said), c.title, last.Unix())
	if err != nil {
		return err
	}
	for i, text := range c.said {
		_, err := tx.ExecContext(ctx, `INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)`,
			c.id, c.speaker(i), text, started.Add(pause*time.Duration(i)).Unix())
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO session_model_usage VALUES (?, 'atlas-4', ?)`, c.id, 100*len(c.said))
	return err
}

// config is what the Agent notes of a session's descent: the marks that tell a delegate and a branch from a
// continuation.
func (c chat) config() string {
	switch c.role {
	case roleDelegate:
		return fmt.Sprintf(`{"_delegate_from":%q}`, c.parent)
	case roleBranch:
		return fmt.Sprintf(`{"_branched_from":%q}`, c.parent)
	case roleStart, roleSegment:
	}
	return `{"temperature":0.7}`
}

func (c chat) speaker(i int) string { return []string{"user", "assistant"}[i%2] }

// writeFiles makes the four files that an Agent keeps of a session: two transcripts, an older Agent's snapshot, and the
// dump of a request. Of a delegate it keeps one.
func (s *store) writeFiles(c chat) error {
	transcript, err := json.Marshal(map[string]any{"session_id": c.id, "title": c.title, "messages": c.said})
	if err != nil {
		return err
	}
	names := []string{c.id + ".jsonl", c.id + ".json", "session_" + c.id + ".json", "request_dump_" + c.id + "_1.json"}
	if c.source == subagent {
		names = names[:1]
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(s.home, "sessions", name), transcript, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lease is the mark with which an Agent says that a turn runs in a conversation.
type lease struct {
	holder  string
	expires time.Time
}

// takeLease makes this process the holder of a running turn, as an Agent is while it answers.
func (s *store) takeLease(ctx context.Context, root string) (lease, error) {
	now := time.Now()
	l := lease{processStamp(), now.Add(5 * time.Minute).Truncate(time.Second)}
	_, err := s.db.ExecContext(ctx, `INSERT INTO session_turn_leases VALUES (?, ?, ?, ?)`,
		root, l.holder, now.Unix(), l.expires.Unix())
	if err != nil {
		return l, fmt.Errorf("take the turn lease: %w", err)
	}
	return l, nil
}

// processStamp names this process so that another one can tell whether it still lives. Where there are process
// namespaces, an id means something only together with its namespace.
func processStamp() string {
	stamp := fmt.Sprintf("pid=%d", os.Getpid())
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return stamp
	}
	return stamp + ":pidns=" + strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
}

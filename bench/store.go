package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver of the stores that are made and measured

	"session-sidecar/fixtures"
	"session-sidecar/internal/storeuri"
)

// What a store is made by. A kept store is used again only as long as all of it is the same.
var (
	//go:embed history.go
	historySource string
	//go:embed ledger.go
	ledgerSource string
	//go:embed store.go
	storeSource string
)

func (h history) sql() string {
	if h.schema == runtimeSchema {
		return fixtures.RuntimeSchema
	}
	return fixtures.LegacySchema
}

// name is the file of a kept store.
func (h history) name() string {
	sum := sha256.Sum256([]byte(historySource + ledgerSource + storeSource + h.sql()))
	kind := h.schema
	if h.sparse {
		kind += "-sparse"
	}
	return fmt.Sprintf("%s-%d-%x.db", kind, h.sessions, sum[:4])
}

// keep gives the path of a store with this history, which is made where folder does not hold it yet.
func (h history) keep(ctx context.Context, folder string, say func(string, ...any)) (string, error) {
	path := filepath.Join(folder, h.name())
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	say("making a %s store of %d sessions", h.schema, h.sessions)
	part, err := os.MkdirTemp(folder, "making-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(part) }()
	unfinished := filepath.Join(part, "state.db")
	if err := h.write(ctx, unfinished); err != nil {
		return "", fmt.Errorf("make a store: %w", err)
	}
	return path, os.Rename(unfinished, path)
}

// write makes the store of the whole history.
func (h history) write(ctx context.Context, path string) error {
	return h.create(ctx, path, func(w *writer) {
		h.writeShared(w)
		for i := 0; i < h.sessions && w.err == nil; i++ {
			h.writeSession(w, i)
			if h.schema == runtimeSchema {
				if h.local(i) {
					h.writePolicy(w, i)
				}
				if h.talks(i) {
					h.writeLedger(w, i)
				}
			}
		}
	})
}

// create makes a store in one transaction that nothing need survive: a store that is not finished is thrown away.
func (h history) create(ctx context.Context, path string, fill func(*writer)) error {
	db, err := sql.Open("sqlite3", uri(path, "mode=rwc&_foreign_keys=on&_journal_mode=off&_synchronous=off&_cache_size=-262144"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, h.sql()); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	w := &writer{ctx: ctx, tx: tx, statements: map[string]*sql.Stmt{}}
	w.withoutIndexing(func() { fill(w) })
	if w.err != nil {
		return w.err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

// writeShared writes what belongs to no one session.
func (h history) writeShared(w *writer) {
	for n := range prompts {
		w.insert("system_prompts (hash, prompt)", promptOf(n), words(chance(n, forSession), 2000))
	}
	w.meta("last_auto_archive", "12")
}

func promptOf(i int) string { return localFingerprint("prompt", fmt.Sprint(i%prompts)) }

func (h history) title(i int) string { return words(chance(i, forSession), 30) }

func speaker(m int) string { return []string{"user", "assistant", "tool", "assistant"}[m%4] }

// message is what is said as the m-th in a session.
func (h history) message(i, m int) string {
	return words(chance(i*mostMessages+m, forMessages), messageBytes)
}

func (h history) writeSession(w *writer, i int) {
	r, id, started := h.role(i), h.id(i), h.started(i).Unix()
	var parent, ended, end, route, chat, user any
	if r.parent > 0 {
		parent = h.id(i - r.parent)
	}
	if r.end != "" {
		end, ended = r.end, started+int64(lasting.Seconds())
	}
	if key := h.route(i); key != "" {
		route, user = key, principal
	}
	if h.local(i) {
		chat = id
	}
	count, last := 0, started
	if h.talks(i) {
		count = fewMessages + chance(i, forSession).IntN(mostMessages-fewMessages+1)
		last += int64(talkPause.Seconds()) * int64(count-1)
	}
	w.insert("sessions (id, source, user_id, session_key, chat_id, model, model_config, system_prompt_hash, parent_session_id, "+
		"started_at, ended_at, end_reason, message_count, cwd, title, last_activity_at)",
		id, r.source, user, route, chat, "atlas-4", h.config(i), promptOf(i), parent,
		started, ended, end, count, "/home/human/work", h.title(i), last)
	for m := range count {
		var tool any
		if speaker(m) == "tool" {
			tool = "terminal"
		}
		w.insert("messages (session_id, role, content, tool_name, timestamp)",
			id, speaker(m), h.message(i, m), tool, started+int64(talkPause.Seconds())*int64(m))
	}
	if count > 0 {
		w.insert("session_model_usage (session_id, model, input_tokens)", id, "atlas-4", 100*count)
	}
	if key := h.route(i); key != "" && end == nil {
		w.insert("gateway_routing (scope, session_key, entry_json, updated_at)",
			"", key, fmt.Sprintf(`{"session_id":%q,"origin":{"chat_id":%q}}`, id, key), last)
		w.insert("conversation_generations (source, session_key, generation)", r.source, key, 1)
	}
}

// writer runs prepared statements until one fails.
type writer struct {
	ctx        context.Context //nolint:containedctx // it lives no longer than the call that makes it
	tx         *sql.Tx
	statements map[string]*sql.Stmt
	err        error
}

// withoutIndexing writes rows and fills the full-text indexes once at the end, in a tenth of the time.
func (w *writer) withoutIndexing(write func()) {
	indexes := []string{"messages_fts", "messages_fts_trigram"}
	triggers := make([]string, len(indexes))
	for i, index := range indexes {
		row := w.tx.QueryRowContext(w.ctx, "SELECT sql FROM sqlite_schema WHERE name = ?", index+"_insert")
		w.err = errors.Join(w.err, row.Scan(&triggers[i]))
		w.exec("DROP TRIGGER " + index + "_insert")
	}
	write()
	for i, index := range indexes {
		w.exec("INSERT INTO " + index + "(" + index + ") VALUES ('rebuild')")
		w.exec(triggers[i])
	}
}

func (w *writer) exec(statement string) {
	if w.err == nil {
		_, w.err = w.tx.ExecContext(w.ctx, statement)
	}
}

// insert writes a row; one that is there already, as a chat's route is, is replaced.
func (w *writer) insert(into string, values ...any) {
	if w.err != nil {
		return
	}
	statement := w.statements[into]
	if statement == nil {
		places := strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")
		statement, w.err = w.tx.PrepareContext(w.ctx, "INSERT OR REPLACE INTO "+into+" VALUES ("+places+")")
		if w.err != nil {
			return
		}
		w.statements[into] = statement
	}
	_, w.err = statement.ExecContext(w.ctx, values...)
}

func (w *writer) meta(key, value string) { w.insert("state_meta (key, value)", key, value) }

// uri is the address of a store, with what its connection is opened with.
func uri(path, query string) string {
	parameters, err := url.ParseQuery(query)
	if err != nil {
		panic(err) // it is ours
	}
	return storeuri.Of(path, parameters)
}

// copyFile copies a store that nobody has open.
func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/deletion"
)

// samples are the durations of one run: of each kind, one for each round.
type samples struct {
	Floor  []time.Duration `json:"floor"`
	Scan   []time.Duration `json:"scan"`
	Delete []time.Duration `json:"delete"`
	Held   []time.Duration `json:"held"`
	Sweep  *swept          `json:"sweep,omitempty"` // of a store that can be swept
}

// measure takes turns: in each round the floor, a scan and a delete of the same family, on copies of the same store that an
// Agent has open. The first round is not counted, since it fills the system's caches.
func measure(ctx context.Context, h history, store string, o options) (s samples, err error) {
	rounds := o.rounds
	if rounds+1 > h.families() {
		return s, fmt.Errorf("%d sessions are too few for %d rounds; %d are enough", h.sessions, rounds, (rounds+1)*len(pattern))
	}
	run, err := os.MkdirTemp(o.folder, "run-")
	if err != nil {
		return s, err
	}
	defer func() { _ = os.RemoveAll(run) }()
	bare, err := newHome(ctx, filepath.Join(run, "floor"), store)
	if err != nil {
		return s, err
	}
	defer bare.close()
	ours, err := newHome(ctx, filepath.Join(run, "delete"), store)
	if err != nil {
		return s, err
	}
	defer ours.close()
	if o.files {
		for i := range h.sessions {
			if err := ours.writeFile(h.id(i)); err != nil {
				return s, err
			}
		}
	}

	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	apart := h.families() / (rounds + 1)
	for round := range rounds + 1 {
		ids := h.family(round * apart)
		floor, err := bare.floor(ctx, h, ids)
		if err != nil {
			return s, fmt.Errorf("the bare row deletes: %w", err)
		}
		scan, err := ours.scan(ctx, ids)
		if err != nil {
			return s, fmt.Errorf("the bare scan: %w", err)
		}
		whole, held, err := ours.delete(ctx, deleter, ids)
		if err != nil {
			return s, fmt.Errorf("the delete: %w", err)
		}
		if round > 0 {
			s.Floor, s.Scan = append(s.Floor, floor), append(s.Scan, scan)
			s.Delete, s.Held = append(s.Delete, whole), append(s.Held, held)
		}
	}
	if o.sweep > 0 && h.schema == runtimeSchema {
		one, err := ours.sweep(ctx, deleter, h, o.sweep)
		if err != nil {
			return s, fmt.Errorf("the sweep: %w", err)
		}
		s.Sweep = &one
	}
	return s, nil
}

// home is a profile's folder with a copy of the store, and an Agent that has it open.
type home struct {
	path  string
	agent *sql.DB
}

func newHome(ctx context.Context, path, store string) (*home, error) {
	if err := os.MkdirAll(filepath.Join(path, "sessions"), 0o700); err != nil {
		return nil, err
	}
	h := &home{path: path}
	if err := copyFile(store, h.store()); err != nil {
		return nil, err
	}
	agent, err := sql.Open("sqlite3", uri(h.store(), "mode=rw&_busy_timeout=5000"))
	if err != nil {
		return nil, err
	}
	agent.SetMaxOpenConns(1)
	h.agent = agent
	if err := h.settle(ctx); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *home) store() string { return filepath.Join(h.path, "state.db") }

func (h *home) close() { _ = h.agent.Close() }

// writeFile makes a session's transcript.
func (h *home) writeFile(id string) error {
	return os.WriteFile(filepath.Join(h.path, "sessions", id+".jsonl"), []byte(id), 0o600)
}

// settle lets the Agent empty the write-ahead log, so that what is measured next does not pay for what was measured before.
func (h *home) settle(ctx context.Context) error {
	var busy, logged, moved int
	err := h.agent.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved)
	if err == nil && busy != 0 {
		err = fmt.Errorf("somebody else uses %s", h.store())
	}
	return err
}

// connect opens the store as a delete does.
func (h *home) connect(ctx context.Context, mode string) (*sql.Conn, func(), error) {
	db, err := sql.Open("sqlite3", uri(h.store(), "_busy_timeout=0&_foreign_keys=on&_synchronous=full&_secure_delete=on&mode="+mode))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	closeBoth := func() { _, _ = c.Close(), db.Close() }
	if err := c.Raw(keepWAL); err != nil {
		closeBoth()
		return nil, nil, err
	}
	for _, pragma := range []string{"PRAGMA fullfsync = ON", "PRAGMA journal_size_limit = 0"} {
		if _, err := c.ExecContext(ctx, pragma); err != nil {
			closeBoth()
			return nil, nil, err
		}
	}
	return c, closeBoth, nil
}

// keepWAL is SQLITE_FCNTL_PERSIST_WAL. The driver is asked by what it can do, so that this is read on systems without it.
func keepWAL(driverConn any) error {
	const persistWAL = 10
	return driverConn.(interface {
		SetFileControlInt(database string, code, value int) error
	}).SetFileControlInt("main", persistWAL, 1)
}

// floor is the least that a delete can be: one transaction that deletes the rows of ids that somebody else has found out.
func (h *home) floor(ctx context.Context, made history, ids []string) (time.Duration, error) {
	c, closeBoth, err := h.connect(ctx, "rw")
	if err != nil {
		return 0, err
	}
	defer closeBoth()
	start := time.Now()
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	var gone int64
	for _, statement := range made.bareDeletes() {
		result, err := c.ExecContext(ctx, statement, ids[0], ids[1])
		if err != nil {
			return 0, err
		}
		if gone, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	if _, err := c.ExecContext(ctx, "COMMIT"); err != nil {
		return 0, err
	}
	took := time.Since(start)
	if gone != int64(len(ids)) { // the last statement deletes the sessions
		return 0, fmt.Errorf("%d sessions went, not %d", gone, len(ids))
	}
	return took, h.settle(ctx)
}

// bareDeletes take the rows of two ids away. The ledger's go first: it holds its sessions.
func (h history) bareDeletes() []string {
	const these = "IN (?1, ?2)"
	var statements []string
	if h.schema == runtimeSchema {
		statements = []string{
			"DELETE FROM worker_receipts WHERE execution_id IN (SELECT execution_id FROM worker_executions WHERE session_id " + these + ")",
			"DELETE FROM worker_executions WHERE session_id " + these,
			"DELETE FROM session_admissions WHERE target_session_id " + these,
		}
	}
	return append(statements,
		"DELETE FROM messages WHERE session_id "+these,
		"UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id "+these,
		"DELETE FROM session_model_usage WHERE session_id "+these,
		"DELETE FROM sessions WHERE id "+these)
}

// scan asks once, of all sessions, whose marker names one of the ids.
func (h *home) scan(ctx context.Context, ids []string) (time.Duration, error) {
	c, closeBoth, err := h.connect(ctx, "ro")
	if err != nil {
		return 0, err
	}
	defer closeBoth()
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	rows, err := c.QueryContext(ctx, `SELECT id FROM sessions WHERE CASE WHEN json_valid(model_config)
		THEN json_extract(model_config, '$._delegate_from') END IN (SELECT value FROM json_each(?))`, string(list))
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return 0, err
		}
		found = append(found, id)
	}
	took := time.Since(start)
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if !slices.Equal(found, ids[1:]) {
		return 0, fmt.Errorf("it found [%s], not %s", strings.Join(found, " "), ids[1])
	}
	return took, nil
}

// byUser makes these deletes leave a receipt, as those of a host do.
var byUser = deletion.Provenance{Reason: "explicit_user", Surface: "session_rpc"}

// delete is ours, from the call to its answer: the locks, the decision, the rows, the manifest and the files.
func (h *home) delete(ctx context.Context, deleter *deletion.Deleter, ids []string) (whole, held time.Duration, err error) {
	for _, id := range ids {
		if err := h.writeFile(id); err != nil {
			return 0, 0, err
		}
	}
	start := time.Now()
	outcome, err := deleter.Delete(ctx, byUser, deletion.Request{ProfileHome: h.path, SessionID: ids[0]})
	whole = time.Since(start)
	if err != nil {
		return 0, 0, err
	}
	if gone := outcome.Plan.IDs(); !slices.Equal(gone, ids) || outcome.Stuck {
		return 0, 0, fmt.Errorf("[%s] went, not [%s] with their files", strings.Join(gone, " "), strings.Join(ids, " "))
	}
	return whole, outcome.LockHeld, h.settle(ctx)
}

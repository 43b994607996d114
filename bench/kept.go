package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"session-sidecar/internal/deletion"
)

// keptSamples are the deletes of one long conversation each, in turns with keep_days and without.
type keptSamples struct {
	plainHeld, keptHeld, plain, kept []time.Duration
}

// measureKept deletes conversations of so many messages of two kilobytes, on two copies of the same store that an Agent has open: on one
// they are kept. The first round is not counted.
func measureKept(ctx context.Context, schema string, messages int, o options, out io.Writer) (err error) {
	folder, err := os.MkdirTemp(o.folder, "kept-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	made := history{schema: schema}
	store := filepath.Join(folder, "state.db")
	if err := writeLong(ctx, made, store, messages, o.rounds+1); err != nil {
		return err
	}
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	var homes []*home
	for _, name := range []string{"plain", "kept"} {
		h, err := newHome(ctx, filepath.Join(folder, name), store)
		if err != nil {
			return err
		}
		defer h.close()
		homes = append(homes, h)
	}
	var s keptSamples
	for round := range o.rounds + 1 {
		for _, days := range []int{0, 1} {
			if round%2 == 1 {
				days = 1 - days // neither is always the first
			}
			h := homes[days]
			start := time.Now()
			outcome, err := deleter.Delete(ctx, byUser, deletion.Request{ProfileHome: h.path, SessionID: longID(round), KeepDays: days})
			whole := time.Since(start)
			if err != nil {
				return err
			}
			if kept := outcome.Kept; (kept != nil) != (days > 0) || kept != nil && kept.MessageCount != messages {
				return fmt.Errorf("the entry of %s is not what was asked for", longID(round))
			}
			if err := h.settle(ctx); err != nil {
				return err
			}
			switch {
			case round == 0:
			case days > 0:
				s.keptHeld, s.kept = append(s.keptHeld, outcome.LockHeld), append(s.kept, whole)
			default:
				s.plainHeld, s.plain = append(s.plainHeld, outcome.LockHeld), append(s.plain, whole)
			}
		}
	}
	return s.write(out, schema, messages)
}

func longID(i int) string { return fmt.Sprintf("long-%03d", i) }

// writeLong makes the store, in one transaction for each conversation.
func writeLong(ctx context.Context, made history, path string, messages, conversations int) error {
	db, err := sql.Open("sqlite3", uri(path, "mode=rwc&_journal_mode=wal&_synchronous=off&_cache_size=-65536"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, made.sql()); err != nil {
		return err
	}
	for i := range conversations {
		id := longID(i)
		if _, err := db.ExecContext(ctx, "INSERT INTO sessions (id, source, title, started_at) VALUES (?, 'cli', ?, 1)", id, id); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, `INSERT INTO messages (session_id, role, content, timestamp)
			WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
			SELECT ?1, 'tool', 'word ' || i || ' ' || hex(zeroblob(1000)), i FROM n`, id, messages)
		if err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

func (s keptSamples) write(out io.Writer, schema string, messages int) error {
	ratio := func(pick func([]time.Duration) time.Duration, of, to []time.Duration) float64 {
		return pick(of).Seconds() / pick(to).Seconds()
	}
	_, err := fmt.Fprintf(out, " a conversation of %d messages, %s, %d rounds:\n held without keep_days %s, with it %s: %.2f, fastest %.2f\n delete %s, with it %s\n",
		messages, schema, len(s.kept), milliseconds(median(s.plainHeld)), milliseconds(median(s.keptHeld)),
		ratio(median, s.keptHeld, s.plainHeld), ratio(slices.Min[[]time.Duration], s.keptHeld, s.plainHeld),
		milliseconds(median(s.plain)), milliseconds(median(s.kept)))
	return err
}

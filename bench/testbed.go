package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"session-sidecar/internal/deletion"
)

// testbed is what a mode is measured on: a store, and homes with copies of it, in a folder that goes afterwards.
type testbed struct {
	*lab
	made    history
	rounds  int // that count; one more goes before them
	store   string
	bytes   int64   // of the store
	homes   []*home // in the order of the mode's copies
	deleter *deletion.Deleter

	dir string
}

func (l *lab) setUp(ctx context.Context, m mode, h history, rounds int) (t *testbed, err error) {
	t = &testbed{lab: l, made: h, rounds: rounds}
	if t.dir, err = os.MkdirTemp(l.folder, "run-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.remove()
		}
	}()
	if t.store, err = m.on.make(ctx, t); err != nil {
		return t, err
	}
	info, err := os.Stat(t.store)
	if err != nil {
		return t, err
	}
	t.bytes = info.Size()
	for _, name := range m.copies {
		h, err := newHome(ctx, filepath.Join(t.dir, name), t.store)
		if err != nil {
			return t, err
		}
		t.homes = append(t.homes, h)
	}
	t.deleter = deletion.New(slog.New(slog.DiscardHandler))
	return t, nil
}

func (t *testbed) remove() {
	if t.deleter != nil {
		t.deleter.Close()
	}
	for _, h := range t.homes {
		h.close()
	}
	_ = os.RemoveAll(t.dir)
}

// settle settles all homes, so that a round does not pay for the one before.
func (t *testbed) settle(ctx context.Context) error {
	for _, h := range t.homes {
		if err := h.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// sidecar starts the program and introduces itself.
func (t *testbed) sidecar(ctx context.Context) (*process, error) {
	program, err := t.program(ctx, sidecarProgram)
	if err != nil {
		return nil, err
	}
	p, err := spawn(ctx, program)
	if err != nil {
		return nil, err
	}
	if err := p.handshake(); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// source is where a mode's store comes from.
type source struct {
	sizes bool // there is one of each size
	make  func(context.Context, *testbed) (path string, err error)
}

var (
	// storesOfEachSize are kept for the next time.
	storesOfEachSize = source{sizes: true, make: func(ctx context.Context, t *testbed) (string, error) {
		return t.made.keep(ctx, t.lab.folder, t.say)
	}}
	longConversations = source{make: func(ctx context.Context, t *testbed) (string, error) {
		t.say("making a %s store of %d conversations of %d messages", t.made.schema, t.rounds+1, t.messages)
		return t.writeLong(ctx, t.messages, t.rounds+1, spoken)
	}}
	// keptConversations have messages of two kilobytes.
	keptConversations = source{make: func(ctx context.Context, t *testbed) (string, error) {
		return t.writeLong(ctx, t.kept, t.rounds+1, func(i int) string { return fmt.Sprintf("word %d %s", i, strings.Repeat("00", 1000)) })
	}}
	oneMessage = source{make: func(ctx context.Context, t *testbed) (string, error) {
		return t.writeLong(ctx, 1, 1, spoken)
	}}
)

func longID(i int) string { return fmt.Sprintf("long-%03d", i) }

// spoken is the text of the i-th message of a long conversation.
func spoken(i int) string { return words(chance(i, forMessages), messageBytes) }

// writeLong makes a store of conversations of so many messages, in one transaction that nothing need survive.
func (t *testbed) writeLong(ctx context.Context, messages, conversations int, text func(int) string) (path string, err error) {
	path = filepath.Join(t.dir, "state.db")
	return path, t.made.create(ctx, path, func(w *writer) {
		for i := range conversations {
			w.insert("sessions (id, source, title, started_at, message_count)", longID(i), "cli", longID(i), 1, messages)
			for m := range messages {
				w.insert("messages (session_id, role, content, timestamp)", longID(i), speaker(m), text(i*messages+m), m)
			}
		}
	})
}

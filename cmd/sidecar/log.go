package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"session-sidecar/statedb"
)

const (
	logLines    = 1024                   // log lines that wait for a slow reader before new ones are dropped
	logFlushing = 100 * time.Millisecond // how long the end of the process waits for the last lines
)

// newLog makes the log: text on a terminal, JSON otherwise. A reader that does not read never holds a call up; lines
// that find no room are dropped. flush waits a moment for what was logged last.
func newLog(out *os.File, level slog.Level) (log *slog.Logger, flush func()) {
	lines := newPatientWriter(out)
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: withoutRows}
	var handler slog.Handler = slog.NewJSONHandler(lines, options)
	if term.IsTerminal(int(out.Fd())) {
		handler = slog.NewTextHandler(lines, options)
	}
	return slog.New(handler), lines.flush
}

// withoutRows takes SQLite's words out of an error where they may quote a row: no line may hold what was said in a conversation.
func withoutRows(_ []string, attribute slog.Attr) slog.Attr {
	if err, is := attribute.Value.Any().(error); is {
		attribute.Value = slog.StringValue(statedb.ForLog(err))
	}
	return attribute
}

// patientWriter writes in a goroutine of its own.
type patientWriter struct {
	lines chan []byte
	sync  chan chan struct{}
}

func newPatientWriter(out io.Writer) *patientWriter {
	w := &patientWriter{lines: make(chan []byte, logLines), sync: make(chan chan struct{})}
	go func() {
		for {
			select {
			case line := <-w.lines:
				_, _ = out.Write(line) // a log that cannot be written is no reason to stop
			case written := <-w.sync:
				for len(w.lines) > 0 {
					_, _ = out.Write(<-w.lines)
				}
				close(written)
			}
		}
	}()
	return w
}

// Write queues one line, or drops it.
func (w *patientWriter) Write(line []byte) (int, error) {
	select {
	case w.lines <- bytes.Clone(line):
	default:
	}
	return len(line), nil
}

func (w *patientWriter) flush() {
	limit := time.After(logFlushing)
	written := make(chan struct{})
	select {
	case w.sync <- written:
	case <-limit:
		return
	}
	select {
	case <-written:
	case <-limit:
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"session-sidecar/rpc"
	"session-sidecar/statedb"
)

// logLevelVariable is for hosts, which cannot pass a flag. The flag wins.
const logLevelVariable = "SIDECAR_LOG_LEVEL"

// The levels where none is asked for: a host keeps the log, a person has the answer before them.
const (
	hostLogLevel   = slog.LevelInfo
	personLogLevel = slog.LevelError
)

var logLevels = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

func levelNames() (names []string) {
	for _, level := range logLevels {
		names = append(names, strings.ToLower(level.String()))
	}
	return names
}

// logLevel is the value of --log-level. It is one of four words, spelled so.
type logLevel struct {
	slog.Level
	given bool
}

func (l *logLevel) Set(text string) error {
	i := slices.Index(levelNames(), text)
	if i < 0 {
		return fmt.Errorf("it is debug, info, warn or error, not %s", rpc.Quote(text))
	}
	l.Level, l.given = logLevels[i], true
	return nil
}

func (l *logLevel) String() string {
	if l == nil || !l.given {
		return ""
	}
	return strings.ToLower(l.Level.String())
}

func (l *logLevel) Type() string { return "level" }

func (l *logLevel) add(root *cobra.Command) {
	root.PersistentFlags().Var(l, "log-level", "how much goes to the log on standard error: debug, info, warn or error (default: info for a host, error for\na person's commands)")
}

// take has what is asked for hold for a command, whose context carries it. A word in the environment that is none is refused, as a
// wrong limit is: a log that somebody misses later cannot be had any more.
func (l *logLevel) take(ctx context.Context) (context.Context, error) {
	if text := os.Getenv(logLevelVariable); !l.given && text != "" {
		if err := l.Set(text); err != nil {
			return ctx, usageError{fmt.Errorf("%s: %w", logLevelVariable, err)}
		}
	}
	return context.WithValue(ctx, logLevelKey{}, l), nil
}

type logLevelKey struct{}

// logLevelOf is the level that was asked for, or unasked where none was.
func logLevelOf(ctx context.Context, unasked slog.Level) slog.Level {
	if l, _ := ctx.Value(logLevelKey{}).(*logLevel); l != nil && l.given {
		return l.Level
	}
	return unasked
}

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

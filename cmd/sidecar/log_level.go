package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"session-sidecar/rpc"
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
	root.PersistentFlags().Var(l, "log-level", "log debug, info, warn or error and up (default: error)")
	completes(root, "log-level", cobra.FixedCompletions(levelNames(), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder))
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

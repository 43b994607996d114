package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"session-sidecar/internal/version"
	"session-sidecar/methods"
	"session-sidecar/rpc"
)

const longHelp = `The session sidecar deletes chat sessions from an Agent's state.db so that they
stay deleted: the whole conversation and nothing else, never under a running
turn, and with every leftover file removed even after a crash.

A desktop app starts it with pipes and speaks JSON-RPC 2.0 to it, one JSON
document a line, on its standard input and output. Its log goes to standard
error.

To see what it does on a made-up history: sidecar demo

Environment: SIDECAR_MAX_CALLS, how many calls run at once (64 where unset);
SIDECAR_LOG_LEVEL, as --log-level, which wins.`

const helpExample = `  sidecar call rpc.methods
  sidecar call state_db.delete_cli_session \
      '{"profile_home":"/path/to/profile","session_id":"20260101_120000_abc123"}'`

// gcPercent keeps the resident memory under 20 MB after thousands of deletes, not only after the start.
const gcPercent = 40

// maxCallsVariable sets how many calls run at once (contract 1.5).
const maxCallsVariable = "SIDECAR_MAX_CALLS"

func serveOrHelp(cmd *cobra.Command, _ []string) error {
	if atTerminal() {
		return cmd.Help()
	}
	return serveHost(cmd.Context())
}

// atTerminal tells whether a person sits before the program, and no host.
func atTerminal() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// serveHost serves the host that started this process. It ends with an exit status.
func serveHost(ctx context.Context) error {
	maxCalls, err := maxCallsFromEnvironment()
	if err != nil {
		return usageError{err}
	}
	code, err := serve(ctx, maxCalls)
	if err != nil {
		return err
	}
	return exitCode(code)
}

func maxCallsFromEnvironment() (int, error) {
	text := os.Getenv(maxCallsVariable)
	if text == "" {
		return rpc.DefaultMaxCalls, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s must be a whole number from 1, not %q", maxCallsVariable, text)
	}
	return n, nil
}

// serve speaks to the host until the orderly end and gives the exit status.
func serve(ctx context.Context, maxCalls int) (int, error) {
	// It sits beside an app all day: its memory matters more than the garbage collector's time.
	debug.SetGCPercent(gcPercent)
	// Asked for before anything is written: a write to a pipe that nobody reads must fail, not kill (contract 1.8).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	private, err := claimStdout()
	if err != nil {
		return 0, fmt.Errorf("keep standard output for frames: %w", err)
	}
	frames := rpc.TakeOutput(private)
	defer func() { _ = frames.Close() }()
	log, flushLog := newLog(os.Stderr, logLevelOf(ctx, hostLogLevel))
	defer flushLog()

	ctx, hostGone := context.WithCancel(ctx)
	defer hostGone()
	go whenParentEnds(ctx, func() {
		log.Info("the process that started the sidecar is gone")
		hostGone()
	})
	log.Info("serving", "version", version.Version, "pid", os.Getpid())
	registry := methods.New(log)
	defer registry.Close()
	server := rpc.New(registry, log, maxCalls)
	registry.Attach(server.Notify)
	go trimWhenIdle(ctx, server)
	code := server.Serve(ctx, io.Reader(os.Stdin), frames)
	log.Info("ended", "exit_code", code)
	return code, nil
}

// trimEvery is how often we look whether work has ended.
const trimEvery = 2 * time.Second

// trimWhenIdle gives memory back once nothing is under way any more: between two deletes there may be days.
func trimWhenIdle(ctx context.Context, server *rpc.Server) {
	ticker := time.NewTicker(trimEvery)
	defer ticker.Stop()
	trimmed := uint64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if load := server.Load(); load.InFlight == 0 && load.Answered != trimmed {
				debug.FreeOSMemory()
				giveBack()
				trimmed = load.Answered
			}
		}
	}
}

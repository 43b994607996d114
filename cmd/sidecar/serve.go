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

	"golang.org/x/term"

	"session-sidecar/internal/version"
	"session-sidecar/methods"
	"session-sidecar/rpc"
)

// gcPercent keeps the resident memory under 20 MB after thousands of deletes, not only after the start.
const gcPercent = 40

// maxCallsVariable sets how many calls run at once (contract 1.5).
const maxCallsVariable = "SIDECAR_MAX_CALLS"

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

// Command bench measures a delete beside the least that it could be, on stores that it makes up (docs/performance.md). It is
// no part of the program, and nothing judges its numbers but a reader.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

type options struct {
	schemas  []string
	sessions int
	rounds   int
	sweep    int
	folder   string
	files    bool
	json     bool
	kept     int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	schemas := flags.String("schemas", legacySchema+","+runtimeSchema, "which stores, separated by commas")
	flags.IntVar(&o.sessions, "sessions", 100_000, "how many sessions a store has")
	flags.IntVar(&o.rounds, "rounds", 30, "how many deletes are measured")
	flags.IntVar(&o.sweep, "sweep", 10_000, "how many sessions are swept at once afterwards, on a store that can be swept")
	flags.StringVar(&o.folder, "folder", "build/bench", "where stores are kept for the next time, and copied to")
	flags.BoolVar(&o.files, "files", false, "give every session a file in sessions/")
	flags.IntVar(&o.kept, "kept", 0, "measure nothing but deletes of a conversation of so many messages, with keep_days and without")
	flags.BoolVar(&o.json, "json", false, "print every duration, one line of JSON for each store")
	profile := flags.String("cpuprofile", "", "write a profile to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.schemas = strings.Split(*schemas, ",")
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer func() {
			pprof.StopCPUProfile()
			_ = file.Close()
		}()
	}
	return bench(ctx, o, os.Stdout, os.Stderr)
}

// bench measures each of the stores, one after the other.
func bench(ctx context.Context, o options, out, progress io.Writer) error {
	if o.rounds < 1 {
		return errors.New("there is nothing to measure in no rounds")
	}
	for _, schema := range o.schemas {
		if schema != legacySchema && schema != runtimeSchema {
			return fmt.Errorf("%q is no schema; there are %s and %s", schema, legacySchema, runtimeSchema)
		}
	}
	folder, err := filepath.Abs(o.folder) // a relative path would be another one in a URI
	if err != nil {
		return err
	}
	o.folder = folder
	if err := os.MkdirAll(o.folder, 0o700); err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(progress, format+"\n", args...) }
	for _, schema := range o.schemas {
		if o.kept > 0 {
			say("measuring %d deletes of %d messages in a %s store, with keep_days and without", o.rounds, o.kept, schema)
			if err := measureKept(ctx, schema, o.kept, o, out); err != nil {
				return fmt.Errorf("%s: %w", schema, err)
			}
			continue
		}
		h := history{schema: schema, sessions: o.sessions}
		store, err := h.keep(ctx, o.folder, say)
		if err != nil {
			return err
		}
		info, err := os.Stat(store)
		if err != nil {
			return err
		}
		say("measuring %d deletes in a %s store of %d sessions", o.rounds, schema, o.sessions)
		s, err := measure(ctx, h, store, o)
		if err != nil {
			return fmt.Errorf("%s: %w", schema, err)
		}
		r := newReport(h, info.Size(), o.files, s)
		write := r.writeTable
		if o.json {
			write = r.writeJSON
		}
		if err := write(out); err != nil {
			return err
		}
	}
	return nil
}

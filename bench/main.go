// Command bench measures a delete, and what goes with it, beside the least that each could be, on stores that it makes up
// (docs/reference/performance.md). It is no part of the program, and nothing judges its numbers but a reader.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

type options struct {
	modes         []string
	schemas       []string
	sizes         []int
	rounds        int
	sweep         int // sessions
	conversations int // of a bulk delete
	messages      int // of a long conversation
	kept          int // messages, where deletes that are kept are all that is measured
	calm          time.Duration
	folder        string
	files         bool
	json, gobench bool
	from, report  string
	sidecar       string
}

func main() {
	agentIfAsked()
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

func run(ctx context.Context, args []string) error {
	o, profile, err := readOptions(args)
	if err != nil {
		return err
	}
	if profile != "" {
		file, err := os.Create(profile)
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

func readOptions(args []string) (o options, profile string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	chosen := flags.String("modes", "delete", "what is measured, separated by commas, or all:\n"+describeModes())
	schemas := flags.String("schemas", legacySchema+","+runtimeSchema, "which stores, separated by commas")
	sizes := flags.String("sessions", "100000", "how many sessions a store has, separated by commas; from 1000000 on one in a hundred has messages")
	flags.IntVar(&o.rounds, "rounds", 30, "how often each is measured; fewer times where it takes long")
	flags.IntVar(&o.sweep, "sweep", 10_000, "how many sessions are swept at once after deletes, on a store that can be swept")
	flags.IntVar(&o.conversations, "conversations", 1_000, "how many conversations are deleted at once")
	flags.IntVar(&o.messages, "messages", 100_000, "how many messages a long conversation has")
	flags.IntVar(&o.kept, "kept", 0, "measure nothing but deletes of a conversation of so many messages, with keep_days and without")
	flags.DurationVar(&o.calm, "calm", 6*time.Second, "how long we look at an Agent without deletes, and at a sidecar without work")
	flags.StringVar(&o.folder, "folder", "build/bench", "where stores are kept for the next time, and copied to")
	flags.BoolVar(&o.files, "files", false, "give every session a file in sessions/")
	flags.BoolVar(&o.json, "json", false, "print every duration, one line of JSON for each result")
	flags.BoolVar(&o.gobench, "gobench", false, "print every duration as a Go benchmark does, for benchstat")
	flags.StringVar(&o.from, "from", "", "measure nothing, but read the results that -json printed to these files, separated by commas")
	flags.StringVar(&o.report, "report", "", "write the tables into this document, between its marks, and the plot beside it")
	flags.StringVar(&o.sidecar, "sidecar", "", "the sidecar to measure where that takes a process; it is built where this is empty")
	flags.StringVar(&profile, "cpuprofile", "", "write a profile of this process to this file")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	o.modes, o.schemas = strings.Split(*chosen, ","), strings.Split(*schemas, ",")
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, "", fmt.Errorf("%q is no number of sessions", text)
		}
		o.sizes = append(o.sizes, n)
	}
	return o, profile, nil
}

// bench measures what is asked for, prints each result when it is there, and writes the report of all of them.
func bench(ctx context.Context, o options, out, progress io.Writer) (err error) {
	show := printerOf(o, out)
	var results []result
	if o.from != "" {
		if results, err = readResults(strings.Split(o.from, ",")...); err != nil {
			return err
		}
		for _, r := range results {
			if err := show(r); err != nil {
				return err
			}
		}
	} else if results, err = measureAll(ctx, o, show, progress); err != nil {
		return err
	}
	if !o.json && !o.gobench {
		if err := writeGrowth(out, results); err != nil {
			return err
		}
	}
	if o.report != "" {
		return writeReport(o.report, results)
	}
	return nil
}

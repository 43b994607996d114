// Command consumer is an example of a program that follows deletion receipts (README.md): it stages each receipt once, in
// its own ledger, and never opens a state.db. It uses nothing of this module, so that it can be copied.
//
// The files: source.go speaks to the sidecar, verdict.go decides what an answer means, ledger_sql.go keeps what is staged,
// staging.go puts the three together.
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
	"syscall"
	"time"
)

// The exit statuses, beside 0: all is staged.
const (
	exitFailure   = 1 // something failed; what is staged stays, and to start again goes on from there
	exitUsage     = 2 // the command line is wrong
	exitReconcile = 3 // a store has to be reconciled by a person: to start again cannot help
)

type options struct {
	ledger  string
	sidecar string
	homes   []string
	limit   int
	follow  bool
	poll    time.Duration

	work       bool
	done       string
	reconciled int64 // below 0 where it is not asked for
}

const usage = `usage:
  consumer -ledger FILE -sidecar PROGRAM -home DIR [-home DIR …] [-follow]
  consumer -ledger FILE -work
  consumer -ledger FILE -done OPERATION_ID
  consumer -ledger FILE -home DIR -reconciled SEQUENCE

`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errOut io.Writer) int {
	o, err := parse(args, errOut)
	if err != nil {
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err = serve(ctx, o, out, errOut); err == nil {
		return 0
	}
	fmt.Fprintln(errOut, "consumer:", err)
	if errors.Is(err, errReconcile) {
		return exitReconcile
	}
	return exitFailure
}

func parse(args []string, errOut io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("consumer", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&o.ledger, "ledger", "", "the consumer's own `file`, made where it is not there")
	flags.StringVar(&o.sidecar, "sidecar", "", "the sidecar's `program`")
	flags.Func("home", "an Agent profile's `folder`; may be given again", func(home string) error {
		o.homes = append(o.homes, home)
		return nil
	})
	flags.IntVar(&o.limit, "limit", 100, "how many receipts a page has at most, which is one transaction")
	flags.BoolVar(&o.follow, "follow", false, "go on until SIGTERM")
	flags.DurationVar(&o.poll, "poll", 5*time.Second, "how long -follow waits between two looks")
	flags.BoolVar(&o.work, "work", false, "print the pending work, one JSON document a line")
	flags.StringVar(&o.done, "done", "", "mark the work of this `operation` as done")
	flags.Int64Var(&o.reconciled, "reconciled", -1, "a person has compared: go on behind this `sequence`; 0 reads all anew")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if err := o.check(flags.NArg()); err != nil {
		fmt.Fprintln(errOut, "consumer:", err)
		return o, err
	}
	return o, nil
}

// check finds a command line that means nothing, or two things.
func (o options) check(rest int) error {
	modes := 0
	for _, asked := range []bool{o.sidecar != "", o.work, o.done != "", o.reconciled >= 0} {
		if asked {
			modes++
		}
	}
	switch {
	case o.ledger == "":
		return errors.New("-ledger is missing")
	case filepath.Base(o.ledger) == "state.db":
		return errors.New("a ledger is a file of its own, and never a state.db")
	case rest > 0:
		return errors.New("there is something beside the flags")
	case modes != 1:
		return errors.New("one of -sidecar, -work, -done and -reconciled is needed, and one alone")
	case o.sidecar != "" && len(o.homes) == 0, o.reconciled >= 0 && len(o.homes) != 1:
		return errors.New("-sidecar needs a -home or more, -reconciled just one")
	case o.limit < 1 || o.limit > 1000:
		return errors.New("-limit is from 1 to 1000")
	case o.poll <= 0:
		return errors.New("-poll is not above zero")
	}
	return nil
}

func serve(ctx context.Context, o options, out, errOut io.Writer) error {
	ledger, err := openLedger(ctx, o.ledger, o.sidecar != "")
	if err != nil {
		return fmt.Errorf("open the ledger %s: %w", o.ledger, err)
	}
	defer func() { _ = ledger.close() }()
	switch {
	case o.work:
		return ledger.printWork(ctx, out)
	case o.done != "":
		return ledger.markDone(ctx, o.done)
	case o.reconciled >= 0:
		h, err := findHome(o.homes[0])
		if err != nil {
			return err
		}
		return ledger.reconciled(ctx, h.store, o.reconciled)
	}
	sidecar, err := startSidecar(ctx, o.sidecar, errOut)
	if err != nil {
		return err
	}
	defer sidecar.end()
	c := &consumer{ledger: ledger, sidecar: sidecar, limit: o.limit, out: out, said: map[string]string{}}
	if !o.follow {
		return c.look(ctx, o.homes)
	}
	return c.follow(ctx, o.homes, o.poll)
}

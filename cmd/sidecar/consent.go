package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// consent is what a command needs before it takes something away for good: --yes, or a person who says so.
type consent struct{ yes bool }

func (c *consent) add(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, usage)
}

// check refuses a command line that nobody could agree to, before anything is looked at: with --json something is lacking, and without
// a terminal there is nobody to ask. instead is what helps.
func (c *consent) check(json bool, lacking, instead string) error {
	switch {
	case c.yes:
		return nil
	case json:
		return usageError{fmt.Errorf("with --json %s: %s", lacking, instead)}
	case !atTerminal():
		return usageError{fmt.Errorf("nobody can be asked here: %s", instead)}
	}
	return nil
}

// given asks, unless --yes has answered already. A no is an error, which ends the program; undone tells what was left alone then.
func (c *consent) given(ctx context.Context, question, undone string) error {
	if c.yes {
		return nil
	}
	agreed, err := askUser(ctx, question)
	if err != nil || agreed {
		return err
	}
	_, err = fmt.Fprintln(os.Stderr, undone)
	return errors.Join(err, exitCode(exitDeclined))
}

// askUser asks a question that only a clear yes answers, on standard error so that the output may go elsewhere. An interrupt
// is a no.
func askUser(ctx context.Context, question string) (bool, error) {
	if _, err := fmt.Fprintf(os.Stderr, "%s [y/N] ", question); err != nil {
		return false, err
	}
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input is a no
		typed <- line
	}()
	select {
	case line := <-typed:
		if !strings.HasSuffix(line, "\n") { // nobody has ended the question's line
			if _, err := fmt.Fprintln(os.Stderr); err != nil {
				return false, err
			}
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		_, err := fmt.Fprintln(os.Stderr)
		return false, err
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// forgotten is the result of receipts.forget.
type forgotten struct{ Removed int }

func newForgetReceiptsCommand() *cobra.Command {
	var flags homeFlags
	var through int64
	var yes bool
	cmd := &cobra.Command{
		Use:   "forget --home DIR --through N",
		Short: "Remove deletion receipts that nobody needs any more",
		Long: `Removes the receipts up to a sequence, after asking. A program that goes by them
and has not read them yet never learns of those deletes: make sure that every one
has come so far. Their sequences are never given again.

Exit status: 0; 1 if it cannot be done; 2 for a wrong command line; 3 if you said no.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !cmd.Flags().Changed("through"):
				return usageError{errors.New("--through is required: the newest receipt to remove")}
			case through < 0:
				return usageError{errors.New("--through is a number from 0")}
			case yes:
			case flags.json:
				return usageError{errors.New("with --json nothing is asked: add --yes")}
			case !term.IsTerminal(int(os.Stdin.Fd())):
				return usageError{errors.New("nobody can be asked here: add --yes")}
			}
			return flags.withClient(cmd, func(ctx context.Context, c *client, p *paper) error {
				return forgetReceipts(ctx, c, p, flags, through, yes)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().Int64Var(&through, "through", 0, "the newest receipt to remove (required)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func forgetReceipts(ctx context.Context, c *client, p *paper, flags homeFlags, through int64, yes bool) error {
	if !yes {
		agreed, err := askUser(ctx, fmt.Sprintf("Forget all deletion receipts up to %d for good?", through))
		if err != nil {
			return err
		}
		if !agreed {
			_, err := fmt.Fprintln(os.Stderr, "Nothing was forgotten.")
			return errors.Join(err, exitCode(exitDeclined))
		}
	}
	done, raw, err := askFor[forgotten](ctx, c, "receipts.forget", map[string]any{
		"profile_home": flags.home, "through_sequence": through,
	}, nil)
	switch {
	case err != nil:
		return withoutReceipts(err)
	case flags.json:
		return p.raw(string(raw))
	}
	return p.say("%s", "forgot "+count(done.Removed, "receipt"))
}

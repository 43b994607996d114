package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// forgotten is the result of receipts.forget.
type forgotten struct{ Removed int }

func newForgetReceiptsCommand() *cobra.Command {
	var flags homeFlags
	var through int64
	var agreed consent
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
			}
			if err := agreed.check(flags.json, "nothing is asked", "add --yes"); err != nil {
				return err
			}
			return flags.run(cmd, func(ctx context.Context, e *errand) error { return forgetReceipts(ctx, e, through, agreed) })
		},
	}
	flags.add(cmd)
	cmd.Flags().Int64Var(&through, "through", 0, "the newest receipt to remove (required)")
	agreed.add(cmd, "do not ask")
	return cmd
}

func forgetReceipts(ctx context.Context, e *errand, through int64, agreed consent) error {
	question := fmt.Sprintf("Forget all deletion receipts up to %d for good?", through)
	if err := agreed.given(ctx, question, "Nothing was forgotten."); err != nil {
		return err
	}
	done, raw, err := askAbout[forgotten](ctx, e, "receipts.forget", map[string]any{"through_sequence": through})
	if err != nil {
		return withoutReceipts(err)
	}
	return e.print(raw, done.say)
}

func (f *forgotten) say(p *paper) { p.say("%s", "forgot "+count(f.Removed, "receipt")) }

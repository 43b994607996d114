package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"session-sidecar/methods"
)

// receiptRow is one receipt of receipts.list. Deletion stays as it was written, for --json.
type receiptRow struct {
	Sequence int64           `json:"sequence"`
	Deletion json.RawMessage `json:"deletion"`
}

type receiptPage struct {
	Receipts  []receiptRow `json:"receipts"`
	NextAfter int64        `json:"next_after"`
	Head      int64        `json:"head"`
}

func newReceiptsCommand() *cobra.Command {
	var flags homeFlags
	var after int64
	var limit limitFlag
	cmd := &cobra.Command{
		Use:   "receipts --home DIR",
		Short: "List deletion receipts, oldest first",
		Long: `Lists the receipts of the deletes that somebody asked for, oldest first: on a
terminal as a table, in a pipe as one line each, its cells separated by tabs:
sequence, operation id, and the deleted sessions, separated by spaces.

Exit status: 0; 1 if they cannot be read, or nobody has deleted anything here yet;
2 for a wrong command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if after < 0 {
				return usageError{errors.New("--after is a number from 0")}
			}
			if err := limit.check(); err != nil {
				return err
			}
			return flags.run(cmd, func(ctx context.Context, e *errand) error { return listReceipts(ctx, e, after, limit.limit) })
		},
	}
	flags.add(cmd)
	cmd.Flags().Int64Var(&after, "after", 0, "only those behind this sequence")
	limit.add(cmd)
	cmd.AddCommand(newForgetReceiptsCommand())
	return cmd
}

func listReceipts(ctx context.Context, e *errand, after int64, limit int) error {
	all := receiptPage{Receipts: []receiptRow{}, NextAfter: after}
	more := true
	for more && len(all.Receipts) < limit {
		page, _, err := askAbout[receiptPage](ctx, e, "receipts.list", map[string]any{
			"after_sequence": all.NextAfter, "limit": min(methods.MaxReceipts, limit-len(all.Receipts)),
		})
		if err != nil {
			return withoutReceipts(err)
		}
		all = receiptPage{append(all.Receipts, page.Receipts...), page.NextAfter, page.Head}
		more = len(page.Receipts) > 0 && page.NextAfter < page.Head
	}
	p := e.paper
	if e.json {
		p.json(all)
		return p.err
	}
	if p.terminal && len(all.Receipts) == 0 {
		p.say("No receipts.")
		return p.err
	}
	if err := all.show(p); err != nil {
		return err
	}
	if more {
		fmt.Fprintf(os.Stderr, "There are more than these; --after %d goes on.\n", all.NextAfter)
	}
	return nil
}

// withoutReceipts says of a store without receipts what that means. The method answers in SQLite's words, which programs go by.
func withoutReceipts(err error) error {
	if answer, is := errors.AsType[*answerError](err); is && answer.Data.Condition == string(methods.ReasonReceiptsMissing) {
		sentence := methods.Meanings[methods.ReasonReceiptsMissing].Sentence
		answer.Message = strings.ToLower(sentence[:1]) + strings.TrimSuffix(sentence[1:], ".")
	}
	return err
}

func (page *receiptPage) show(p *paper) error {
	var rows [][]string
	for _, r := range page.Receipts {
		var deletion struct {
			OperationID string `json:"operation_id"`
			Identities  []struct{ ID string }
		}
		if err := json.Unmarshal(r.Deletion, &deletion); err != nil {
			return fmt.Errorf("the receipt %d: %w", r.Sequence, err)
		}
		var ids []string
		for _, identity := range deletion.Identities {
			ids = append(ids, identity.ID)
		}
		rows = append(rows, []string{strconv.FormatInt(r.Sequence, 10), deletion.OperationID, strings.Join(ids, " ")})
	}
	p.columns([]string{"receipt", "operation", "sessions"}, rows)
	return p.err
}

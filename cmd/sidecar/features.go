package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// features is the result of state_db.features.
type features struct {
	Path          string
	Reason        string
	Detail        string
	SchemaVersion *int64 `json:"schema_version"`
	Guards        bool
	FTS           []struct {
		Name, Tokenizer string
		Usable          bool
	}
	Receipts    bool
	JournalMode string `json:"journal_mode"`
	Bytes       int64
	WALBytes    int64 `json:"wal_bytes"`
	Sessions    *int64
	Missing     []string
}

func newFeaturesCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "features --home DIR",
		Short: "Tell what a history is, and which path a delete would take",
		Long: `Tells what a history is and has, and which path a delete in it would take.

Exit status: 0; 1 if no delete is possible, or it cannot be read; 2 for a wrong
command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, func(ctx context.Context, e *errand) error {
				found, raw, err := askAbout[features](ctx, e, "state_db.features", nil)
				if err != nil {
					return err
				}
				if err := e.print(raw, found.show); err != nil {
					return err
				}
				return failure(found.Path == "")
			})
		},
	}
	flags.add(cmd)
	return cmd
}

func (f *features) show(p *paper) { p.columns([]string{"", ""}, f.rows()) }

func (f *features) rows() [][]string {
	number := func(n *int64) string {
		if n == nil {
			return "unknown"
		}
		return strconv.FormatInt(*n, 10)
	}
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	path := f.Path
	if path == "" {
		path = "none: " + f.Detail + " (" + f.Reason + ")"
	}
	rows := [][]string{
		{"path", path},
		{"schema version", number(f.SchemaVersion)},
		{"sessions", number(f.Sessions)},
		{"size", bytesText(f.Bytes)},
		{"write-ahead log", bytesText(f.WALBytes)},
		{"journal mode", f.JournalMode},
		{"a running turn can be seen", yes(f.Guards)},
		{"deletion receipts", yes(f.Receipts)},
	}
	for _, index := range f.FTS {
		usable := "usable"
		if !index.Usable {
			usable = "this build cannot write it"
		}
		rows = append(rows, []string{"index " + index.Name, usable + ", " + index.Tokenizer})
	}
	if len(f.Missing) > 0 {
		rows = append(rows, []string{"not there", strings.Join(f.Missing, ", ")})
	}
	return rows
}

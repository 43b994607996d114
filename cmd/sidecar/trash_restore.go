package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newTrashRestoreCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "restore --home DIR OPERATION|SESSION",
		Short: "Bring a deleted conversation back, under new ids",
		Long: `Brings sessions and messages back, as they were, under new ids: what was deleted
with --keep is named by its operation, or by a session that only this delete took.
Files, routes and running work do not come back, and nothing that others send to
it arrives there. What could not come back as it was is told on standard error.

Exit status: 0 if it is back; 1 if not; 2 for a wrong command line.`,
		Example: "  sidecar trash restore --home ~/.agent 20261118_142233_9fea03",
		Args:    trashArgument(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd, func(ctx context.Context, e *errand) error { return restoreTrash(ctx, e, args[0]) })
		},
	}
	flags.add(cmd)
	return cmd
}

// restored is the result of trash.restore.
type restored struct {
	Restored  map[string]string
	Dropped   []string
	Changed   []string
	FTSStale  []string `json:"fts_stale"`
	EntryLeft bool     `json:"entry_left"`
}

func restoreTrash(ctx context.Context, e *errand, name string) error {
	operation, err := operationOf(ctx, e, name, func(entry *trashed, session string) bool { return slices.Contains(entry.IDs, session) })
	if err != nil {
		return err
	}
	result, raw, err := askAbout[restored](ctx, e, "trash.restore", map[string]any{"operation_id": operation})
	if err != nil {
		return err
	}
	return e.print(raw, result.say)
}

func (r *restored) say(p *paper) {
	for _, old := range slices.Sorted(maps.Keys(r.Restored)) {
		p.say("restored\t%s\tas %s", old, r.Restored[old])
	}
	for _, line := range r.but() {
		fmt.Fprintln(os.Stderr, plainText(line))
	}
}

// but tells what is not as it was.
func (r *restored) but() (lines []string) {
	if len(r.Dropped) > 0 {
		lines = append(lines, "not restored, since the store no longer has it: "+strings.Join(r.Dropped, ", "))
	}
	if len(r.Changed) > 0 {
		lines = append(lines, "restored otherwise, since what it named is gone, or the title is taken and has a number now: "+
			strings.Join(r.Changed, ", "))
	}
	if len(r.FTSStale) > 0 {
		lines = append(lines, "not in the search yet, for the Agent has to rebuild it first: "+strings.Join(r.FTSStale, ", "))
	}
	if r.EntryLeft {
		lines = append(lines, "the conversation is back, but its text could not be removed from the trash; the next use of the profile tries again")
	}
	return lines
}

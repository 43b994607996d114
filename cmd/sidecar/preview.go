package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"
)

func newPreviewCommand() *cobra.Command {
	var flags homeFlags
	var scope scopeFlags
	var keep keepFlag
	cmd := &cobra.Command{
		Use:   "preview --home DIR SESSION",
		Short: "Show what a delete would do, and do nothing",
		Long: `Shows what a delete would take, what stays and why, and what is in the way; with
--keep also about how large what is kept would be. Nothing is changed.

Exit status: 0 if a delete would go through; 1 if it would be refused, or the
history cannot be read; 2 for a wrong command line.`,
		Args: sessionArguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.run(cmd, func(ctx context.Context, e *errand) error {
				plan, raw, err := previewOne(ctx, e, scope, keep, args[0])
				if err != nil {
					return err
				}
				if err := e.print(raw, func(p *paper) { plan.show(p, args[0]) }); err != nil {
					return err
				}
				return failure(plan.Reason != "")
			})
		},
	}
	flags.add(cmd)
	scope.add(cmd)
	keep.add(cmd.Flags(), "show a delete that keeps what goes for 1d to 90d (or 1 to 90)")
	return cmd
}

// previewOne asks what a delete of a session would do.
func previewOne(ctx context.Context, e *errand, scope scopeFlags, keep keepFlag, id string) (plan, json.RawMessage, error) {
	return askAbout[plan](ctx, e, "state_db.preview_delete", keep.addTo(scope.addTo(map[string]any{"session_id": id})))
}

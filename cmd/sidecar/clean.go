package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"
)

// cleaned is the result of cleanup.run.
type cleaned struct {
	RemovedIDs []string `json:"removed_ids"`
	Complete   bool
	Pending    []struct {
		SessionID string `json:"session_id"`
		Cause     string
	}
	Unreadable []string
	Detail     string
}

func newCleanCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "clean --home DIR",
		Short: "Remove the files that deletes could not remove before",
		Long: `Works through what deletes left: the files of sessions that are gone, which could
not be removed then, or which a crash left. With --base-home the routes that they
left in the base profile's store are fenced too. It does by hand what every delete
does first, and what an app's sidecar does by itself. No session is deleted.

What it settled and what is still left is printed, one line each, its cells
separated by tabs.

Exit status: 0 if nothing is left; 1 if something is, or it cannot be done; 2 for a
wrong command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, func(ctx context.Context, e *errand) error {
				done, raw, err := askAbout[cleaned](ctx, e, "cleanup.run", nil)
				if err != nil {
					return err
				}
				if err := e.print(raw, done.show); err != nil {
					return err
				}
				return failure(!done.Complete)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// whyLeft puts the method's words in a person's.
var whyLeft = map[string]string{
	"session_live": "there is a session of this id", "artifact_stuck": "a file of it cannot be removed",
	"unsafe_id": "the id cannot be in a file's name", "media_failed": "a file that its messages named cannot be removed",
}

func (d *cleaned) show(p *paper) {
	for _, id := range d.RemovedIDs {
		p.say("settled\t%s", id)
	}
	for _, left := range d.Pending {
		why := cmp.Or(whyLeft[left.Cause], left.Cause)
		p.say("left\t%s\t%s", cmp.Or(left.SessionID, "of an older delete"), why+" ("+left.Cause+")")
	}
	for _, name := range d.Unreadable {
		p.say("left\t%s\tit cannot be read", name)
	}
	switch {
	case d.Detail != "":
		p.say("%s", d.Detail)
	case d.Complete && len(d.RemovedIDs) == 0 && p.terminal:
		p.say("Nothing is left.")
	}
}

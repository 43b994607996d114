package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func newTrashPurgeCommand() *cobra.Command {
	var flags homeFlags
	var agreed consent
	cmd := &cobra.Command{
		Use:   "purge --home DIR [OPERATION|SESSION]",
		Short: "Remove one deleted conversation, or all, from the trash for good",
		Long: `Removes what one delete has kept, named by its operation or as the list shows it;
without a name, after a question, all that could be restored. What cannot be read
goes only where its operation is named.

Exit status: 0 if it is gone; 1 if not, or something that cannot be read is left;
2 for a wrong command line; 3 if you said no.`,
		Args: trashArgument(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return flags.run(cmd, func(ctx context.Context, e *errand) error { return purgeOne(ctx, e, args[0]) })
			}
			if err := agreed.check(flags.json, "nothing is asked", "name an operation, or add --yes"); err != nil {
				return err
			}
			return flags.run(cmd, func(ctx context.Context, e *errand) error { return purgeAll(ctx, e, agreed) })
		},
	}
	flags.add(cmd)
	agreed.add(cmd, "do not ask before all goes")
	return cmd
}

// purged is the result of trash.purge.
type purged struct {
	Purged     int
	Unreadable []string
}

func purgeOne(ctx context.Context, e *errand, name string) error {
	operation, err := operationOf(ctx, e, name, func(entry *trashed, session string) bool { return entry.session() == session })
	if err != nil {
		return err
	}
	return purgeTrash(ctx, e, map[string]any{"operation_id": operation})
}

// purgeAll tells what would go before it asks, and says what stays because nobody has named it.
func purgeAll(ctx context.Context, e *errand, agreed consent) error {
	listing, _, err := askAbout[trashListing](ctx, e, "trash.list", nil)
	if err != nil {
		return err
	}
	if len(listing.Entries) == 0 && len(listing.Unreadable) == 0 && !e.json {
		e.paper.say(emptyTrash)
		return e.paper.err
	}
	if len(listing.Entries) > 0 {
		if err := agreed.given(ctx, listing.question(), "Nothing was removed."); err != nil {
			return err
		}
	}
	return purgeTrash(ctx, e, nil)
}

func (l *trashListing) question() string {
	size := int64(0)
	for _, e := range l.Entries {
		size += e.Bytes
	}
	return fmt.Sprintf("Remove %s (%s) from the trash for good?", count(len(l.Entries), "conversation"), bytesText(size))
}

func purgeTrash(ctx context.Context, e *errand, params map[string]any) error {
	result, raw, err := askAbout[purged](ctx, e, "trash.purge", params)
	if err != nil {
		return err
	}
	if err := e.print(raw, result.say); err != nil {
		return err
	}
	return failure(len(result.Unreadable) > 0)
}

func (r *purged) say(p *paper) {
	p.say("removed\t%s", count(r.Purged, "conversation"))
	for _, name := range r.Unreadable {
		p.say("left\t%s\tit cannot be read: it goes only where it is named", operationIn(name))
	}
}

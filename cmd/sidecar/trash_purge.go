package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func newTrashPurgeCommand() *cobra.Command {
	var flags homeFlags
	var yes bool
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
			switch {
			case len(args) > 0 || yes:
			case flags.json:
				return usageError{errors.New("with --json nothing is asked: name an operation, or add --yes")}
			case !term.IsTerminal(int(os.Stdin.Fd())):
				return usageError{errors.New("nobody can be asked here: name an operation, or add --yes")}
			}
			return flags.withClient(cmd, func(ctx context.Context, c *client, p *paper) error {
				if len(args) > 0 {
					return purgeOne(ctx, c, p, flags, args[0])
				}
				return purgeAll(ctx, c, p, flags, yes)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before all goes")
	return cmd
}

// purged is the result of trash.purge.
type purged struct {
	Purged     int
	Unreadable []string
}

func purgeOne(ctx context.Context, c *client, p *paper, flags homeFlags, name string) error {
	operation, err := operationOf(ctx, c, flags, name, func(e *trashed, session string) bool { return e.session() == session })
	if err != nil {
		return err
	}
	return purgeTrash(ctx, c, p, flags, map[string]any{"operation_id": operation})
}

// purgeAll tells what would go before it asks, and says what stays because nobody has named it.
func purgeAll(ctx context.Context, c *client, p *paper, flags homeFlags, yes bool) error {
	listing, _, err := askFor[trashListing](ctx, c, "trash.list", map[string]any{"profile_home": flags.home}, nil)
	if err != nil {
		return err
	}
	if len(listing.Entries) == 0 && len(listing.Unreadable) == 0 && !flags.json {
		return p.say(emptyTrash)
	}
	if len(listing.Entries) > 0 && !yes {
		agreed, err := askUser(ctx, listing.question())
		if err != nil {
			return err
		}
		if !agreed {
			_, err := fmt.Fprintln(os.Stderr, "Nothing was removed.")
			return errors.Join(err, exitCode(exitDeclined))
		}
	}
	return purgeTrash(ctx, c, p, flags, map[string]any{})
}

func (l *trashListing) question() string {
	size := int64(0)
	for _, e := range l.Entries {
		size += e.Bytes
	}
	return fmt.Sprintf("Remove %s (%s) from the trash for good?", count(len(l.Entries), "conversation"), bytesText(size))
}

func purgeTrash(ctx context.Context, c *client, p *paper, flags homeFlags, params map[string]any) error {
	params["profile_home"] = flags.home
	result, raw, err := askFor[purged](ctx, c, "trash.purge", params, nil)
	if err != nil {
		return err
	}
	if flags.json {
		err = p.raw(string(raw))
	} else {
		err = result.say(p)
	}
	if err != nil {
		return err
	}
	return failure(len(result.Unreadable) > 0)
}

func (r *purged) say(p *paper) error {
	if err := p.say("removed\t%s", count(r.Purged, "conversation")); err != nil {
		return err
	}
	for _, name := range r.Unreadable {
		if err := p.say("left\t%s\tit cannot be read: it goes only where it is named", operationIn(name)); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// trashed is one entry of trash.list.
type trashed struct {
	OperationID  string   `json:"operation_id"`
	DeletedAt    float64  `json:"deleted_at"`
	KeepUntil    float64  `json:"keep_until"`
	Title        string   `json:"title"`
	MessageCount int      `json:"message_count"`
	Bytes        int64    `json:"bytes"`
	IDs          []string `json:"ids"`
}

type trashListing struct {
	Entries    []trashed `json:"entries"`
	Unreadable []string  `json:"unreadable"`
}

func newTrashCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trash",
		Short: "List, bring back or remove what was deleted with --keep",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("say what to do with the trash: list, restore or purge")}
		},
	}
	cmd.AddCommand(newTrashListCommand(), newTrashRestoreCommand(), newTrashPurgeCommand())
	return cmd
}

func newTrashListCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "list --home DIR",
		Short: "List the deleted conversations that can be taken back",
		Long: `Lists what was deleted with --keep: on a terminal as a table, in a pipe as one
line each, its cells separated by tabs: the operation, deleted at and kept until
(seconds since 1970), messages, bytes, title.

Exit status: 0; 1 if the trash cannot be read; 2 for a wrong command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withClient(cmd, func(ctx context.Context, c *client, p *paper) error {
				return listTrash(ctx, c, p, flags)
			})
		},
	}
	flags.add(cmd)
	return cmd
}

func listTrash(ctx context.Context, c *client, p *paper, flags homeFlags) error {
	listing, raw, err := askFor[trashListing](ctx, c, "trash.list", map[string]any{"profile_home": flags.home}, nil)
	if err != nil {
		return err
	}
	if flags.json {
		return p.raw(string(raw))
	}
	for _, name := range listing.Unreadable {
		fmt.Fprintf(os.Stderr, "%s cannot be read\n", plainText(name))
	}
	if len(listing.Entries) == 0 {
		if p.terminal {
			return p.say("The trash is empty.")
		}
		return nil
	}
	var rows [][]string
	for _, e := range listing.Entries {
		rows = append(rows, e.row(p.terminal))
	}
	return p.columns([]string{"operation", "deleted", "kept until", "messages", "size", "title"}, rows)
}

func (e *trashed) row(terminal bool) []string {
	if terminal {
		return []string{
			e.OperationID, dayText(&e.DeletedAt), dayText(&e.KeepUntil), strconv.Itoa(e.MessageCount), bytesText(e.Bytes), e.Title,
		}
	}
	return []string{
		e.OperationID, secondsText(e.DeletedAt), secondsText(e.KeepUntil), strconv.Itoa(e.MessageCount),
		strconv.FormatInt(e.Bytes, 10), e.Title,
	}
}

func secondsText(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) }

func newTrashRestoreCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "restore --home DIR OPERATION",
		Short: "Bring a deleted conversation back, under new ids",
		Long: `Brings back what a delete took, under new ids: messages, times and titles are as
they were; what would route messages of others to it stays empty.

Exit status: 0 if it is back; 1 if not; 2 for a wrong command line.`,
		Args: operationArgument(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.withClient(cmd, func(ctx context.Context, c *client, p *paper) error {
				return restoreTrash(ctx, c, p, flags, args[0])
			})
		},
	}
	flags.add(cmd)
	return cmd
}

func restoreTrash(ctx context.Context, c *client, p *paper, flags homeFlags, operation string) error {
	type answer struct {
		Restored map[string]string
		Dropped  []string
		Changed  []string
	}
	params := map[string]any{"profile_home": flags.home, "operation_id": operation}
	result, raw, err := askFor[answer](ctx, c, "trash.restore", params, nil)
	if err != nil {
		return err
	}
	if flags.json {
		return p.raw(string(raw))
	}
	for _, old := range slices.Sorted(maps.Keys(result.Restored)) {
		if err := p.say("restored\t%s\tas %s", old, result.Restored[old]); err != nil {
			return err
		}
	}
	if len(result.Dropped) > 0 {
		fmt.Fprintf(os.Stderr, "The store has no more: %s\n", plainText(strings.Join(result.Dropped, ", ")))
	}
	if len(result.Changed) > 0 {
		fmt.Fprintf(os.Stderr, "Could not come back as it was: %s\n", plainText(strings.Join(result.Changed, ", ")))
	}
	return nil
}

func newTrashPurgeCommand() *cobra.Command {
	var flags homeFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "purge --home DIR [OPERATION]",
		Short: "Remove one deleted conversation, or all, from the trash for good",
		Long: `Removes the entry of one delete; without one, after a question, all that could be
restored. What cannot be read goes only where it is named.

Exit status: 0 if it is gone; 1 if not; 2 for a wrong command line; 3 if you said no.`,
		Args: operationArgument(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			all := len(args) == 0
			if all && !yes && !term.IsTerminal(int(os.Stdin.Fd())) {
				return usageError{errors.New("nobody can be asked here: name an operation, or add --yes")}
			}
			return flags.withClient(cmd, func(ctx context.Context, c *client, p *paper) error {
				return purgeTrash(ctx, c, p, flags, args, yes)
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before all goes")
	return cmd
}

func purgeTrash(ctx context.Context, c *client, p *paper, flags homeFlags, operation []string, yes bool) error {
	params := map[string]any{"profile_home": flags.home}
	if len(operation) > 0 {
		params["operation_id"] = operation[0]
	} else if !yes {
		agreed, err := askUser(ctx, "Remove everything from the trash for good?")
		if err != nil {
			return err
		}
		if !agreed {
			_, err := fmt.Fprintln(os.Stderr, "Nothing was removed.")
			return errors.Join(err, exitCode(exitDeclined))
		}
	}
	result, raw, err := askFor[struct{ Purged int }](ctx, c, "trash.purge", params, nil)
	if err != nil {
		return err
	}
	if flags.json {
		return p.raw(string(raw))
	}
	return p.say("removed\t%s", count(result.Purged, "conversation"))
}

var operationForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// operationArgument takes the operation id of a delete.
func operationArgument(needed bool) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 || (needed && len(args) == 0) {
			return usageError{errors.New("name one operation; `sidecar trash list` shows them")}
		}
		for _, id := range args {
			if !operationForm.MatchString(id) {
				return usageError{fmt.Errorf("%q is no operation of a delete", id)}
			}
		}
		return nil
	}
}

// keepFlag is --keep: a number of days, as in 30d.
type keepFlag struct{ days int }

func (k *keepFlag) String() string {
	if k.days == 0 {
		return ""
	}
	return strconv.Itoa(k.days) + "d"
}

// Type is what the help calls the value.
func (k *keepFlag) Type() string { return "DAYS" }

// Set takes 30d, or 30.
func (k *keepFlag) Set(text string) error {
	days, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	if err != nil || days < 1 || days > 90 {
		return errors.New("it is a number of days from 1d to 90d")
	}
	k.days = days
	return nil
}

// addTo asks for what is kept.
func (k *keepFlag) addTo(params map[string]any) map[string]any {
	if k.days > 0 {
		params["keep_days"] = k.days
	}
	return params
}

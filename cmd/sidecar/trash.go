package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"session-sidecar/internal/lazyregexp"
	"session-sidecar/internal/sessionid"
	"session-sidecar/rpc"
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
	what := usageError{errors.New("say what to do with the trash: list, restore or purge")}
	cmd := &cobra.Command{
		Use:   "trash",
		Short: "List, bring back or remove what was deleted with --keep",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return what },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.Name() == "trash" && cmd.Flags().NArg() == 0 { // it has no flags; those of its commands were meant
			return what
		}
		return flagError(cmd, err)
	})
	cmd.AddCommand(newTrashListCommand(), newTrashRestoreCommand(), newTrashPurgeCommand())
	return cmd
}

func newTrashListCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "list --home DIR",
		Short: "List the deleted conversations that can be taken back",
		Long: `Lists what was deleted with --keep, the newest first: on a terminal as a table, in
a pipe as one line each, its cells separated by tabs: the operation, the session,
deleted at and kept until (seconds since 1970), messages, bytes, title. The session
or the operation is what restore and purge take; a wide terminal shows both.

What cannot be read is told on standard error.

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
		operation := plainText(operationIn(name))
		fmt.Fprintf(os.Stderr, "%s cannot be read; 'sidecar trash purge %s' removes it\n", operation, operation)
	}
	switch {
	case len(listing.Entries) > 0:
		return listing.show(p)
	case len(listing.Unreadable) == 0 && p.terminal:
		return p.say(emptyTrash)
	}
	return nil
}

const emptyTrash = "The trash is empty."

// wideEnough is the width of a terminal that has room for the operations beside what a person goes by.
const wideEnough = 112

func (l *trashListing) show(p *paper) error {
	head := []string{"operation", "session", "deleted", "kept until", "messages", "size", "title"}
	first := 0
	if p.terminal && p.width < wideEnough {
		first = 1
	}
	var rows [][]string
	for _, e := range l.Entries {
		rows = append(rows, e.row(p.terminal)[first:])
	}
	return p.columns(head[first:], rows)
}

func (e *trashed) row(terminal bool) []string {
	deleted, until, size := secondsText(e.DeletedAt), secondsText(e.KeepUntil), strconv.FormatInt(e.Bytes, 10)
	if terminal {
		deleted, until, size = dayText(&e.DeletedAt), dayText(&e.KeepUntil), bytesText(e.Bytes)
	}
	return []string{e.OperationID, e.session(), deleted, until, strconv.Itoa(e.MessageCount), size, e.Title}
}

// session is the one of the deleted sessions that stands for them all: the first, as the delete told them.
func (e *trashed) session() string {
	if len(e.IDs) == 0 {
		return ""
	}
	return e.IDs[0]
}

func secondsText(at float64) string { return strconv.FormatFloat(at, 'f', -1, 64) }

var operationForm = lazyregexp.New(`^[0-9a-f]{32}$`)

// operationIn gives the operation of an entry that may be named as its file is.
func operationIn(name string) string {
	if operation := strings.TrimSuffix(name, ".ndjson.gz"); operationForm().MatchString(operation) {
		return operation
	}
	return name
}

// trashArgument takes what names an entry: the operation of a delete, or a session.
func trashArgument(needed bool) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 || (needed && len(args) == 0) {
			return usageError{errors.New("name one delete; 'sidecar trash list' shows them")}
		}
		for _, name := range args {
			if !sessionid.Safe(name) { // as every operation is
				return usageError{fmt.Errorf("%s is no operation of a delete, and no session; 'sidecar trash list' shows them", rpc.Quote(name))}
			}
		}
		return nil
	}
}

// operationOf gives the operation that is meant: itself, or the only one that took a session, as took tells.
func operationOf(ctx context.Context, c *client, flags homeFlags, name string, took func(e *trashed, session string) bool) (string, error) {
	if operation := operationIn(name); operationForm().MatchString(operation) {
		return operation, nil
	}
	listing, _, err := askFor[trashListing](ctx, c, "trash.list", map[string]any{"profile_home": flags.home}, nil)
	if err != nil {
		return "", err
	}
	var operations []string
	for _, e := range listing.Entries {
		if took(&e, name) {
			operations = append(operations, e.OperationID)
		}
	}
	switch len(operations) {
	case 0:
		return "", fmt.Errorf("no delete of %s is in the trash; 'sidecar trash list' shows what is", rpc.Quote(name))
	case 1:
		return operations[0], nil
	}
	return "", fmt.Errorf("more than one delete of %s is in the trash: name %s", rpc.Quote(name), strings.Join(operations, " or "))
}

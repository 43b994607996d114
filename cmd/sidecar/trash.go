package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"session-sidecar/internal/operationid"
	"session-sidecar/internal/sessionid"
	"session-sidecar/internal/trash"
	"session-sidecar/rpc"
)

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

// operationIn gives the operation of an entry that may be named as its file is.
func operationIn(name string) string {
	if operation, is := trash.OperationOf(name); is {
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
func operationOf(ctx context.Context, e *errand, name string, took func(entry *trashed, session string) bool) (string, error) {
	if operation := operationIn(name); operationid.Is(operation) {
		return operation, nil
	}
	listing, _, err := askAbout[trashListing](ctx, e, "trash.list", nil)
	if err != nil {
		return "", err
	}
	var operations []string
	for _, entry := range listing.Entries {
		if took(&entry, name) {
			operations = append(operations, entry.OperationID)
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

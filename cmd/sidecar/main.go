// Command sidecar deletes chat sessions from an Agent's state.db so that they stay deleted. A desktop app spawns it and
// speaks newline-delimited JSON-RPC to it; a person can make single calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"session-sidecar/internal/version"
	"session-sidecar/statedb"
)

// The exit codes, beside those that the protocol gives (contract 2).
const (
	exitFailure = 1 // an error answer, or the program could not do its work
	exitUsage   = 2 // the command line was wrong
)

// exitCode ends the process with a status and no further word.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake in the command line.
type usageError struct{ error }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx := context.Background()
	if err := statedb.CheckBuild(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sidecar:", err)
		return exitFailure
	}
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exitCode
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "sidecar: %s; see 'sidecar --help'\n", plainText(err.Error()))
		return exitUsage
	}
	fmt.Fprintln(os.Stderr, "sidecar:", plainText(err.Error()))
	return exitFailure
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "sidecar",
		Short:         "Deletes chat sessions from an Agent's state.db so that they stay deleted",
		Long:          longHelp,
		Version:       version.Version,
		Args:          noArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          serveOrHelp,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetVersionTemplate("sidecar {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newListCommand(), newPreviewCommand(), newDeleteCommand(), newTrashCommand(), newReceiptsCommand(), newFeaturesCommand(),
		newCallCommand(), newVersionCommand(), newDemoCommand(),
	)
	return root
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%q is not understood here", args[0])}
	}
	return nil
}

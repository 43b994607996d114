// Command sidecar deletes chat sessions from an Agent's state.db so that they stay deleted. A desktop app spawns it and
// speaks newline-delimited JSON-RPC to it; a person can make single calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"session-sidecar/internal/version"
	"session-sidecar/rpc"
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
	level := &logLevel{}
	if len(args) == 0 && !atTerminal() { // as hosts start it: without making a tree of commands first
		ctx, err := level.take(ctx)
		if err == nil {
			err = serveHost(ctx)
		}
		return exitStatus(err)
	}
	profile := &profileFlag{}
	finishProfile := func() error { return nil }
	root := newRootCommand()
	root.SetArgs(args)
	profile.add(root)
	level.add(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if ctx, err = level.take(cmd.Context()); err != nil {
			return err
		}
		cmd.SetContext(ctx)
		finishProfile, err = profile.begin()
		return err
	}
	err := root.ExecuteContext(ctx)
	if wrong := finishProfile(); wrong != nil {
		fmt.Fprintln(os.Stderr, "sidecar:", plainText(wrong.Error()))
	}
	return exitStatus(err)
}

// exitStatus is that of the process for what it ended with, which it tells of where there is anything to tell.
func exitStatus(err error) int {
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
		Example:       helpExample,
		Version:       version.Version,
		Args:          noArguments,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          serveOrHelp,
	}
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("sidecar {{.Version}}\n")
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp) // ids are no files
	root.AddCommand(
		newListCommand(), newPreviewCommand(), newDeleteCommand(), newTrashCommand(), newReceiptsCommand(), newCleanCommand(),
		newFeaturesCommand(), newDoctorCommand(), newCallCommand(), newVersionCommand(), newDemoCommand(),
	)
	for _, more := range moreCommands {
		root.AddCommand(more())
	}
	return root
}

// moreCommands are those of a build for the makers of the program.
var moreCommands []func() *cobra.Command

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return notUnderstood(cmd, args[0])
	}
	return nil
}

// flagError is what is wrong with a flag, or with the word before it: the flag of a command that is not there is not to blame.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return notUnderstood(cmd, cmd.Flags().Arg(0))
	}
	return usageError{err}
}

// notUnderstood refuses a word, and tells which commands there are in its place.
func notUnderstood(cmd *cobra.Command, word string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if len(names) == 0 {
		return usageError{fmt.Errorf("%s is not understood here", rpc.Quote(word))}
	}
	return usageError{fmt.Errorf("%s is not understood here; there is %s", rpc.Quote(word), strings.Join(names, ", "))}
}

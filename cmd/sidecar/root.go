package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"session-sidecar/internal/version"
	"session-sidecar/rpc"
)

const longHelp = `The session sidecar deletes chat sessions from an Agent's state.db so that they
stay deleted: the whole conversation and nothing else, never under a running
turn, and with every leftover file removed even after a crash.

A desktop app starts it with pipes and speaks JSON-RPC 2.0 to it, one JSON
document a line, on its standard input and output. Its log goes to standard
error.

To see what it does on a made-up history: sidecar demo

Environment: SIDECAR_MAX_CALLS, how many calls run at once (64 where unset);
SIDECAR_LOG_LEVEL, as --log-level, which wins.`

const helpExample = `  sidecar call rpc.methods
  sidecar call state_db.delete_cli_session \
      '{"profile_home":"/path/to/profile","session_id":"20260101_120000_abc123"}'`

// runCommand runs the command that the arguments name, under the flags that all commands have.
func runCommand(ctx context.Context, args []string) error {
	level, profile := &logLevel{}, &profileFlag{}
	finishProfile := func() error { return nil }
	root := newRootCommand()
	addUsual(root)
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
	return err
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

// addUsual adds the commands that every program has, help and completion. They refuse what they do not understand, as ours do.
func addUsual(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = helpTopic
		case "completion":
			cmd.Args, cmd.RunE = noArguments, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = noArguments
			}
		}
	}
}

// helpTopic takes the words of a command.
func helpTopic(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil {
		return usageError{err}
	}
	return noArguments(topic, rest)
}

func serveOrHelp(cmd *cobra.Command, _ []string) error {
	if atTerminal() {
		return cmd.Help()
	}
	return serveHost(cmd.Context())
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

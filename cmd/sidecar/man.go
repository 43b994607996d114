//go:build man

package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"session-sidecar/internal/version"
)

// The program that writes its own manual pages, for `make man`: what they say is what --help says. The one that people have does not
// carry what writes them.
func init() { moreCommands = append(moreCommands, newManCommand) }

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages into a folder",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("name the folder")}
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			root.InitDefaultVersionFlag() // which is otherwise made for the command that runs
			header := &doc.GenManHeader{Section: "1", Source: "sidecar " + version.Version, Manual: "Session sidecar"}
			return doc.GenManTree(root, header, args[0])
		},
	}
}

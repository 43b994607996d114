package main

import (
	"github.com/spf13/cobra"

	"session-sidecar/internal/demo"
)

func newDemoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show a delete on a made-up history in a temporary folder",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), cmd.OutOrStdout()) },
	}
}

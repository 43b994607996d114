package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"session-sidecar/internal/version"
	"session-sidecar/statedb"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the sidecar and of the SQLite that is built in",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "sidecar %s (SQLite %s, %s %s/%s)\n",
				version.Version, statedb.SQLiteVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

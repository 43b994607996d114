// Command sidecar deletes chat sessions from an Agent's state.db so that they stay deleted. A desktop app spawns it and
// speaks newline-delimited JSON-RPC to it; a person has commands, which take the same way inside one process.
package main

import (
	"context"
	"os"

	"session-sidecar/statedb"
)

func main() { os.Exit(exitStatus(run(context.Background(), os.Args[1:]))) }

// run does what the command line asks for. Without one it serves the host that started it, unless a person sits there.
func run(ctx context.Context, args []string) error {
	if err := statedb.CheckBuild(ctx); err != nil {
		return err
	}
	if len(args) > 0 || atTerminal() {
		return runCommand(ctx, args)
	}
	// As hosts start it: without making a tree of commands first.
	ctx, err := (&logLevel{}).take(ctx)
	if err != nil {
		return err
	}
	return serveHost(ctx)
}

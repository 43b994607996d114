package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"session-sidecar/internal/sessionid"
	"session-sidecar/methods"
	"session-sidecar/rpc"
)

// What the flags of many commands say.
const (
	agentDirUsage = "folder of the installed Agent, where you know it"
	homeUsage     = "the Agent profile's folder, which holds state.db (required)"
)

var errHomeMissing = usageError{errors.New("--home is required: the folder that holds state.db")}

// hostFlags are what a host says in its handshake.
type hostFlags struct{ agentDir, baseHome string }

func (h *hostFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.agentDir, "agent-dir", "", agentDirUsage)
	cmd.Flags().StringVar(&h.baseHome, "base-home", "", "home of the base profile, whose store keeps the routes of all profiles")
	completesFolders(cmd, "agent-dir", "base-home")
}

// completes lets a shell complete the value of a flag.
func completes(cmd *cobra.Command, flag string, how cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, how); err != nil {
		panic(err) // there is no such flag
	}
}

// completesFolders lets a shell complete the values of flags that name folders.
func completesFolders(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		if err := cmd.MarkFlagDirname(flag); err != nil {
			panic(err) // there is no such flag
		}
	}
}

func (h *hostFlags) params() map[string]any {
	params := map[string]any{"rpc_version": methods.RPCVersion}
	if h.agentDir != "" {
		params["agent_dir"] = h.agentDir
	}
	if h.baseHome != "" {
		params["base_home"] = h.baseHome
	}
	return params
}

// homeFlags are what every command for people takes.
type homeFlags struct {
	hostFlags
	home string
	json bool
}

func (h *homeFlags) add(cmd *cobra.Command) {
	h.hostFlags.add(cmd)
	cmd.Flags().StringVar(&h.home, "home", "", homeUsage)
	cmd.Flags().BoolVar(&h.json, "json", false, "print the method's result as one line of JSON")
	completesFolders(cmd, "home")
}

// limitFlag is --limit of a command that lists: how many it prints at most.
type limitFlag struct{ limit int }

func (l *limitFlag) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&l.limit, "limit", 50, "at most so many")
}

func (l *limitFlag) check() error {
	if l.limit < 1 {
		return usageError{errors.New("--limit is a number from 1")}
	}
	return nil
}

// scopeFlags say how much of a conversation is meant.
type scopeFlags struct{ only bool }

func (s *scopeFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.only, "only", false, "start at this session, not at the first segment of its conversation")
}

func (s *scopeFlags) addTo(params map[string]any) map[string]any {
	if !s.only {
		params["whole_conversation"] = true
	}
	return params
}

// sessionArguments takes at least one session id, and at most so many (0: any number).
func sessionArguments(most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 || (most > 0 && len(args) > most) {
			return usageError{errors.New("name the session; `sidecar list` shows them")}
		}
		for _, id := range args {
			if !sessionid.Safe(id) {
				return usageError{fmt.Errorf("%s is no session id", rpc.Quote(id))}
			}
		}
		return nil
	}
}

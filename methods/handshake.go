package methods

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"session-sidecar/internal/version"
	"session-sidecar/rpc"
	"session-sidecar/statedb"
)

// RPCVersion is the version of this protocol (contract 2).
const RPCVersion = 1

// exitVersionMismatch is the exit status that tells a host that a restart cannot help.
const exitVersionMismatch = 3

// capabilities are what this build can do beside its methods. One that is not built is not in the list (contract 2).
var capabilities = []string{
	"expected_ids", "keep_days", "path.canonical", "path.legacy", "purge_index", "receipts", "watch", "whole_conversation",
}

type handshakeParams struct {
	RPCVersion int    `json:"rpc_version" jsonschema:"the version of the protocol that the host speaks: 1"`
	AgentDir   string `json:"agent_dir,omitempty" jsonschema:"the folder of the installed Agent, where the host knows it; it decides which path a delete takes. One that cannot be listed is -32602 here, and io_error later"`
	BaseHome   string `json:"base_home,omitempty" jsonschema:"the home of the base profile, whose store keeps the routes of all profiles; what a crash left there is finished in the background"`

	Watch []ProfileHome `json:"watch,omitempty" jsonschema:"homes to watch from now on; they need not be there yet. The list in its order is part of the handshake"`
}

type handshakeResult struct {
	RPCVersion    int       `json:"rpc_version" jsonschema:"the version of the protocol that the sidecar speaks"`
	Version       string    `json:"version" jsonschema:"of the sidecar"`
	PID           int       `json:"pid" jsonschema:"of the sidecar's process"`
	SQLiteVersion string    `json:"sqlite_version" jsonschema:"of the SQLite that is built in"`
	FTS5          bool      `json:"fts5" jsonschema:"always true: a build without full-text indexes does not start"`
	Capabilities  []string  `json:"capabilities" jsonschema:"what this build can do beside its methods, sorted: options of a delete, its paths, receipts, watch"`
	Agent         agentInfo `json:"agent" jsonschema:"what was found of the installed Agent"`
}

type agentInfo struct {
	Known     bool   `json:"known" jsonschema:"whether the host named the Agent's folder"`
	Dir       string `json:"dir,omitempty" jsonschema:"that folder, as an absolute path"`
	CanRetire *bool  `json:"can_retire,omitempty" jsonschema:"whether the Agent can retire conversations: false for one that is older than the runtime ledger"`
}

// versionMismatch is the data of the answer to a host of another version.
type versionMismatch struct {
	Condition Reason `json:"condition"`
	Sidecar   int    `json:"sidecar_rpc_version"`
	Host      int    `json:"host_rpc_version"`
}

// refuseOtherVersion looks at the version before the other fields: a host of another version may send others.
func refuseOtherVersion(ctx context.Context, fields map[string]json.RawMessage) error {
	var host *int // a null is no version
	if json.Unmarshal(fields["rpc_version"], &host) != nil || host == nil || *host == RPCVersion {
		return nil
	}
	rpc.FromContext(ctx).End(exitVersionMismatch)
	return &rpc.Error{
		Code:    rpc.CodeApplication,
		Message: "the host and the sidecar speak different versions of the protocol",
		Data:    versionMismatch{ConditionVersionMismatch, RPCVersion, *host},
	}
}

// handshake is contract 1.9 and 2. A folder of the Agent that cannot be listed opens nothing.
func (s *service) handshake(_ context.Context, p handshakeParams) (handshakeResult, error) {
	says := introduction{baseHome: p.BaseHome}
	if p.AgentDir != "" {
		dir, err := filepath.Abs(p.AgentDir)
		if err != nil {
			return handshakeResult{}, invalidParams("agent_dir: %v", err)
		}
		says.agentDir = dir
	}
	for _, home := range p.Watch {
		if err := watchable("watch", home); err != nil {
			return handshakeResult{}, err
		}
		says.watch += string(home) + "\x00"
	}
	agent, first, err := s.host.introduce(says, func() (agentInfo, error) { return lookAtAgent(says.agentDir) })
	if err != nil {
		return handshakeResult{}, err
	}
	if first {
		s.begin(p)
	}
	return handshakeResult{
		RPCVersion: RPCVersion, Version: version.Version, PID: os.Getpid(), SQLiteVersion: statedb.SQLiteVersion(), FTS5: true,
		Capabilities: capabilities, Agent: agent,
	}, nil
}

// begin starts what goes on behind the calls. None of it is waited for.
func (s *service) begin(p handshakeParams) {
	for _, home := range p.Watch {
		s.deleter.Watch(string(home), p.BaseHome)
	}
	if p.BaseHome != "" && !slices.Contains(p.Watch, ProfileHome(p.BaseHome)) {
		go s.cleanUp(p.BaseHome)
	}
}

// lookAtAgent tells of the Agent in a folder, or of one that nobody named.
func lookAtAgent(dir string) (agentInfo, error) {
	if dir == "" {
		return agentInfo{}, nil
	}
	agent, err := statedb.LookAtAgent(dir)
	if err != nil {
		return agentInfo{}, invalidParams("agent_dir: %s", detailOf(err))
	}
	return agentInfo{Known: true, Dir: dir, CanRetire: &agent.CanRetire}, nil
}

// cleanUp finishes what a crash left in the one home that is known at the start (contract 6.5). Nobody waits for it: the end
// of the process may cut it off, as another crash would.
func (s *service) cleanUp(home string) {
	if err := s.deleter.CleanUp(context.Background(), home); err != nil {
		s.log.Warn("the base home was not cleaned up", "home", home, "error", err)
	}
}

package methods

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"session-sidecar/internal/deletion"
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

type statusResult struct {
	UptimeSeconds float64       `json:"uptime_seconds" jsonschema:"since the start of the process"`
	Calls         callsInfo     `json:"calls" jsonschema:"how busy the sidecar is"`
	Watched       []watchedInfo `json:"watched" jsonschema:"the homes that are watched"`
	Homes         []homeStatus  `json:"homes" jsonschema:"the homes that have something left to clean up, by their resolved paths"`
	Counters      countersInfo  `json:"counters" jsonschema:"what the process has done since its start"`
}

type watchedInfo struct {
	ProfileHome string `json:"profile_home" jsonschema:"the resolved path, or as it was named where no such home is there"`
	watchInfo
}

type callsInfo struct {
	InFlight int `json:"in_flight" jsonschema:"calls that run now, this one included"`
	Limit    int `json:"limit" jsonschema:"how many may run at once"`
}

type homeStatus struct {
	ProfileHome string        `json:"profile_home" jsonschema:"the resolved path"`
	Pending     []pendingInfo `json:"pending" jsonschema:"what could not go yet; it is tried again"`
	Unreadable  []string      `json:"unreadable" jsonschema:"names of manifests that cannot be read"`
}

type countersInfo struct {
	Answered       uint64 `json:"answered" jsonschema:"calls answered since the start"`
	Deletes        uint64 `json:"deletes" jsonschema:"deletes whose rows are gone"`
	Refused        uint64 `json:"refused" jsonschema:"deletes that were refused or failed and changed nothing"`
	SessionsGone   uint64 `json:"sessions_deleted" jsonschema:"ids deleted or swept"`
	CleanupPending uint64 `json:"cleanup_pending" jsonschema:"deletes that left a file of their own"`
	CleanupRuns    uint64 `json:"cleanup_runs" jsonschema:"runs over what deletes left, before and after each delete, asked for, and unasked"`
}

type counters struct{ deletes, refused, sessions, pending atomic.Uint64 }

type shutdownParams struct {
	ExitCode *int `json:"exit_code,omitempty" jsonschema:"the exit status of the process, 0 to 255; 0 where absent"`
}

type okResult struct {
	OK bool `json:"ok" jsonschema:"always true"`
}

// runtime is what the methods of the runtime share.
type runtime struct {
	log      *slog.Logger
	started  time.Time
	session  *session
	deleter  *deletion.Deleter
	counters *counters
}

func registerRuntime(r *Registry, rt *runtime) {
	register(r, spec[handshakeParams, handshakeResult]{
		name: "runtime.handshake", summary: "Introduces the host and the Agent. It must come before every method of a store.",
		inline: true, reasons: []Reason{ConditionAlreadyHandshaken, ConditionVersionMismatch},
		before: refuseOtherVersion, call: rt.handshake,
	})
	register(r, spec[noParams, statusResult]{
		name: "runtime.status", summary: "Tells how busy the sidecar is and what is left to clean up.", brief: true, call: rt.status,
	})
	register(r, spec[shutdownParams, okResult]{
		name: "runtime.shutdown", summary: "Ends the process in order: calls in flight are answered first.",
		inline: true, call: shutdown,
	})
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

func (rt *runtime) handshake(_ context.Context, p handshakeParams) (handshakeResult, error) {
	host := introduction{baseHome: p.BaseHome}
	if p.AgentDir != "" {
		dir, err := filepath.Abs(p.AgentDir)
		if err != nil {
			return handshakeResult{}, invalidParams("agent_dir: %v", err)
		}
		host.agentDir = dir
	}
	for _, home := range p.Watch {
		if err := watchable("watch", home); err != nil {
			return handshakeResult{}, err
		}
		host.watch += string(home) + "\x00"
	}
	agent, first, err := rt.session.introduce(host, func() (agentInfo, error) { return lookAtAgent(host.agentDir) })
	if err != nil {
		return handshakeResult{}, err
	}
	if first {
		rt.begin(p)
	}
	return handshakeResult{
		RPCVersion: RPCVersion, Version: version.Version, PID: os.Getpid(), SQLiteVersion: statedb.SQLiteVersion(), FTS5: true,
		Capabilities: capabilities, Agent: agent,
	}, nil
}

// begin starts what goes on behind the calls. None of it is waited for.
func (rt *runtime) begin(p handshakeParams) {
	for _, home := range p.Watch {
		rt.deleter.Watch(string(home), p.BaseHome)
	}
	if p.BaseHome != "" && !slices.Contains(p.Watch, ProfileHome(p.BaseHome)) {
		go rt.cleanUp(p.BaseHome)
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
func (rt *runtime) cleanUp(home string) {
	if err := rt.deleter.CleanUp(context.Background(), home); err != nil {
		rt.log.Warn("the base home was not cleaned up", "home", home, "error", err)
	}
}

func (rt *runtime) status(ctx context.Context, _ noParams) (statusResult, error) {
	load := rpc.FromContext(ctx).Load()
	result := statusResult{
		UptimeSeconds: time.Since(rt.started).Seconds(),
		Calls:         callsInfo{load.InFlight, load.Limit},
		Watched:       []watchedInfo{},
		Homes:         []homeStatus{},
		Counters: countersInfo{
			Answered: load.Answered, Deletes: rt.counters.deletes.Load(), Refused: rt.counters.refused.Load(),
			SessionsGone: rt.counters.sessions.Load(), CleanupPending: rt.counters.pending.Load(),
			CleanupRuns: rt.deleter.Runs(),
		},
	}
	for _, w := range rt.deleter.Watches() {
		result.Watched = append(result.Watched, watchedInfo{w.Path, watchInfoOf(w)})
	}
	reports := rt.deleter.Reports()
	for _, home := range slices.SortedFunc(maps.Keys(reports), strings.Compare) {
		report := reports[home]
		result.Homes = append(result.Homes, homeStatus{home, pendingInfos(report.Pending), nonNil(report.Unreadable)})
	}
	return result, nil
}

func shutdown(ctx context.Context, p shutdownParams) (okResult, error) {
	code := 0
	if p.ExitCode != nil {
		code = *p.ExitCode
	}
	if code < 0 || code > 255 {
		return okResult{}, invalidParams("exit_code is 0 to 255")
	}
	rpc.FromContext(ctx).End(code)
	return okResult{OK: true}, nil
}

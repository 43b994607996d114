package methods

import (
	"context"
	"maps"
	"slices"
	"time"

	"session-sidecar/rpc"
)

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

// status is contract 2.
func (s *service) status(ctx context.Context, _ noParams) (statusResult, error) {
	load := rpc.FromContext(ctx).Load()
	result := statusResult{
		UptimeSeconds: time.Since(s.started).Seconds(),
		Calls:         callsInfo{load.InFlight, load.Limit},
		Watched:       []watchedInfo{},
		Homes:         []homeStatus{},
		Counters: countersInfo{
			Answered: load.Answered, Deletes: s.counters.deletes.Load(), Refused: s.counters.refused.Load(),
			SessionsGone: s.counters.sessions.Load(), CleanupPending: s.counters.pending.Load(),
			CleanupRuns: s.deleter.Runs(),
		},
	}
	for _, w := range s.deleter.Watches() {
		result.Watched = append(result.Watched, watchedInfo{w.Path, watchInfoOf(w)})
	}
	reports := s.deleter.Reports()
	for _, home := range slices.Sorted(maps.Keys(reports)) {
		report := reports[home]
		result.Homes = append(result.Homes, homeStatus{home, pendingInfos(report.Pending), nonNil(report.Unreadable)})
	}
	return result, nil
}

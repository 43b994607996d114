package methods

import (
	"cmp"
	"context"
	"strings"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/deletion"
	"session-sidecar/internal/home"
)

type watchParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder; it need not be there yet"`
	Enabled     bool        `json:"enabled" jsonschema:"whether it is watched from now on"`
}

type watchResult struct {
	ProfileHome string `json:"profile_home" jsonschema:"the resolved path"`
	Watched     bool   `json:"watched" jsonschema:"whether the home is watched now"`
	watchInfo
}

// watchInfo tells how a home is watched.
type watchInfo struct {
	How cleanup.How `json:"how,omitempty" jsonschema:"events: the system tells of changes; polling: the sidecar looks every two seconds"`
	Why string      `json:"why,omitempty" jsonschema:"why the home is polled, as one line for a human"`
}

type cleanupStatusResult struct {
	watchResult
	LastRun *float64     `json:"last_run,omitempty" jsonschema:"when this process last worked through the home, in seconds since 1970; absent where it has not"`
	Cleanup *cleanupInfo `json:"cleanup,omitempty" jsonschema:"what that run left; absent where there was none"`
}

type cleanupRunResult struct {
	RemovedIDs []string `json:"removed_ids" jsonschema:"the ids that are settled by this run: nothing is left of their files"`
	cleanupInfo
	Detail string `json:"detail,omitempty" jsonschema:"what went wrong, as one line for a human; where nothing could be done at all, it is an error with that reason"`
}

type cleanupInfo struct {
	Complete   bool          `json:"complete" jsonschema:"nothing is pending, and no manifest is unreadable"`
	Pending    []pendingInfo `json:"pending" jsonschema:"what could not go yet; it is tried again"`
	Unreadable []string      `json:"unreadable" jsonschema:"names of manifests that cannot be read"`
}

type pendingInfo struct {
	SessionID string        `json:"session_id,omitempty" jsonschema:"whose file it is; absent where that is not known: one that an older delete left"`
	Cause     cleanup.Cause `json:"cause" jsonschema:"session_live: a session of this id is there; artifact_stuck: a file could not be removed; unsafe_id: the id can be no file name; media_failed: a file that the rows named could not be removed"`
}

// cleanupChanged is the notification cleanup.changed (contract 6.4).
type cleanupChanged struct {
	ProfileHome string        `json:"profile_home" jsonschema:"the resolved path"`
	RemovedIDs  []string      `json:"removed_ids" jsonschema:"the ids of which nothing is left now; those of a delete are in its own answer alone"`
	Pending     []pendingInfo `json:"pending" jsonschema:"all that is pending in the home now"`
}

func registerCleanup(r *Registry, s *service) {
	register(r, spec[watchParams, watchResult]{
		name: "cleanup.watch", summary: "Begins or ends to work through what deletes left in a home as soon as it can go, unasked.", call: s.watchHome,
	})
	register(r, spec[homeParams, cleanupStatusResult]{
		name: "cleanup.status", summary: "Tells whether a home is watched and what the newest run over it left. It looks at no file.", call: s.cleanupStatus,
	})
	register(r, spec[homeParams, cleanupRunResult]{
		name: "cleanup.run", summary: "Works through what deletes left in a home, now.",
		reasons: storeReasonsAnd(ReasonLockTimeout),
		call:    s.runCleanup,
	})
	notify := announce[cleanupChanged](r, "cleanup.changed", "A run over what deletes left in a home has changed something.")
	s.deleter.OnChange(func(change deletion.Change) {
		notify(cleanupChanged{change.ProfileHome, nonNil(change.Removed), pendingInfos(change.Pending)})
	})
}

// watchHome is contract 6.4.
func (s *service) watchHome(ctx context.Context, p watchParams) (watchResult, error) {
	if err := watchable("profile_home", p.ProfileHome); err != nil {
		return watchResult{}, err
	}
	if p.Enabled {
		select {
		case <-s.deleter.Watch(string(p.ProfileHome), s.host.baseHome()):
		case <-ctx.Done():
			return watchResult{}, ctx.Err()
		}
	} else {
		s.deleter.Unwatch(string(p.ProfileHome))
	}
	s.log.Info("watch", "home", string(p.ProfileHome), "enabled", p.Enabled)
	return s.watched(p.ProfileHome), nil
}

// watchable refuses what can never be the path of a folder. A home that is not there may still come.
func watchable(field string, home ProfileHome) error {
	if strings.ContainsRune(string(home), 0) {
		return invalidParams("the field %q holds a NUL character", field)
	}
	return nil
}

// watched tells how a home is watched, if it is.
func (s *service) watched(profileHome ProfileHome) watchResult {
	path, err := home.Resolve(string(profileHome))
	if err != nil {
		path = cmp.Or(home.AsNamed(string(profileHome)), string(profileHome))
	}
	result := watchResult{ProfileHome: path}
	for _, w := range s.deleter.Watches() {
		if w.Path == path {
			result.Watched, result.watchInfo = true, watchInfoOf(w)
		}
	}
	return result
}

func watchInfoOf(w cleanup.Watch) watchInfo { return watchInfo{w.How, oneLine(w.Why)} }

// cleanupStatus is contract 6.4.
func (s *service) cleanupStatus(_ context.Context, p homeParams) (cleanupStatusResult, error) {
	result := cleanupStatusResult{watchResult: s.watched(p.ProfileHome)}
	if run, known := s.deleter.LastRun(result.ProfileHome); known {
		result.LastRun, result.Cleanup = new(float64(run.At.UnixMilli())/1000), cleanupInfoOf(run.Report)
	}
	return result, nil
}

// runCleanup is contract 6.4. What went wrong after something was removed is told beside that.
func (s *service) runCleanup(ctx context.Context, p homeParams) (cleanupRunResult, error) {
	begun := time.Now()
	report, err := s.deleter.CleanUpNow(ctx, string(p.ProfileHome), s.host.baseHome())
	if err == nil && len(report.Removed) == 0 {
		if _, known := reasonOf(report.Failed); known {
			err = report.Failed
		}
	}
	if err != nil {
		return cleanupRunResult{}, err
	}
	result := cleanupRunResult{RemovedIDs: nonNil(report.Removed), cleanupInfo: *cleanupInfoOf(report)}
	if report.Failed != nil {
		result.Detail = detailOf(report.Failed)
	}
	s.log.Info("cleanup", "home", string(p.ProfileHome), "removed_count", len(report.Removed), "pending_count", len(report.Pending),
		"total_ms", milliseconds(time.Since(begun)))
	return result, nil
}

func cleanupInfoOf(r cleanup.Report) *cleanupInfo {
	return &cleanupInfo{Complete: r.Complete(), Pending: pendingInfos(r.Pending), Unreadable: nonNil(r.Unreadable)}
}

func pendingInfos(pending []cleanup.Pending) []pendingInfo {
	infos := make([]pendingInfo, len(pending))
	for i, p := range pending {
		infos[i] = pendingInfo{p.SessionID, p.Cause}
	}
	return infos
}

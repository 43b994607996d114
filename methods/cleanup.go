package methods

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/deletion"
	"session-sidecar/internal/home"
)

// cleaner is what the methods of the namespace cleanup share.
type cleaner struct {
	log     *slog.Logger
	session *session
	deleter *deletion.Deleter
}

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

type cleanupParams struct {
	ProfileHome ProfileHome `json:"profile_home" jsonschema:"the Agent profile's folder, which holds state.db"`
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

// cleanupChanged is the notification cleanup.changed (contract 6.4).
type cleanupChanged struct {
	ProfileHome string        `json:"profile_home" jsonschema:"the resolved path"`
	RemovedIDs  []string      `json:"removed_ids" jsonschema:"the ids of which nothing is left now; those of a delete are in its own answer alone"`
	Pending     []pendingInfo `json:"pending" jsonschema:"all that is pending in the home now"`
}

func registerCleanup(r *Registry, c *cleaner) {
	register(r, spec[watchParams, watchResult]{
		name: "cleanup.watch", summary: "Begins or ends to work through what deletes left in a home as soon as it can go, unasked.", call: c.watch,
	})
	register(r, spec[cleanupParams, cleanupStatusResult]{
		name: "cleanup.status", summary: "Tells whether a home is watched and what the newest run over it left. It looks at no file.", call: c.status,
	})
	register(r, spec[cleanupParams, cleanupRunResult]{
		name: "cleanup.run", summary: "Works through what deletes left in a home, now.",
		reasons: []Reason{ReasonStoreMissing, ReasonStoreUnsupported, ReasonStoreBusy, ReasonStoreCorrupt, ReasonLockTimeout, ReasonIOError},
		call:    c.run,
	})
	notify := announce[cleanupChanged](r, "cleanup.changed", "A run over what deletes left in a home has changed something.")
	c.deleter.OnChange(func(change deletion.Change) {
		notify(cleanupChanged{change.ProfileHome, nonNil(change.Removed), pendingInfos(change.Pending)})
	})
}

// watch is contract 6.4.
func (c *cleaner) watch(ctx context.Context, p watchParams) (watchResult, error) {
	if err := watchable("profile_home", p.ProfileHome); err != nil {
		return watchResult{}, err
	}
	if p.Enabled {
		select {
		case <-c.deleter.Watch(string(p.ProfileHome), c.session.baseHome()):
		case <-ctx.Done():
			return watchResult{}, ctx.Err()
		}
	} else {
		c.deleter.Unwatch(string(p.ProfileHome))
	}
	c.log.Info("watch", "home", string(p.ProfileHome), "enabled", p.Enabled)
	return c.watched(p.ProfileHome), nil
}

// watchable refuses what can never be the path of a folder. A home that is not there may still come.
func watchable(field string, home ProfileHome) error {
	if strings.ContainsRune(string(home), 0) {
		return invalidParams("the field %q holds a NUL character", field)
	}
	return nil
}

// watched tells how a home is watched, if it is.
func (c *cleaner) watched(profileHome ProfileHome) watchResult {
	path, err := home.Resolve(string(profileHome))
	if err != nil {
		path = cmp.Or(home.AsNamed(string(profileHome)), string(profileHome))
	}
	result := watchResult{ProfileHome: path}
	for _, w := range c.deleter.Watches() {
		if w.Path == path {
			result.Watched, result.watchInfo = true, watchInfoOf(w)
		}
	}
	return result
}

func watchInfoOf(w cleanup.Watch) watchInfo { return watchInfo{w.How, oneLine(w.Why)} }

// status is contract 6.4.
func (c *cleaner) status(_ context.Context, p cleanupParams) (cleanupStatusResult, error) {
	result := cleanupStatusResult{watchResult: c.watched(p.ProfileHome)}
	if run, known := c.deleter.LastRun(result.ProfileHome); known {
		at := float64(run.At.UnixMilli()) / 1000
		result.LastRun, result.Cleanup = &at, cleanupInfoOf(run.Report)
	}
	return result, nil
}

// run is contract 6.4. What went wrong after something was removed is told beside that.
func (c *cleaner) run(ctx context.Context, p cleanupParams) (cleanupRunResult, error) {
	begun := time.Now()
	report, err := c.deleter.CleanUpNow(ctx, string(p.ProfileHome), c.session.baseHome())
	if err == nil && len(report.Removed) == 0 {
		if _, known := reasonOf(report.Failed); known {
			err = report.Failed
		}
	}
	if err != nil {
		return cleanupRunResult{}, conditionOf(err)
	}
	result := cleanupRunResult{RemovedIDs: nonNil(report.Removed), cleanupInfo: *cleanupInfoOf(report)}
	if report.Failed != nil {
		result.Detail = detailOf(report.Failed)
	}
	c.log.Info("cleanup", "home", string(p.ProfileHome), "removed_count", len(report.Removed), "pending_count", len(report.Pending),
		"total_ms", milliseconds(time.Since(begun)))
	return result, nil
}

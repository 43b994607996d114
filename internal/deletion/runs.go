package deletion

import (
	"context"
	"slices"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/statedb"
)

// Run is one run over all that was left in a home.
type Run struct {
	Report cleanup.Report
	At     time.Time
}

// Change is what a run changed in a home (contract 6.4). The ids of the very delete that a run ended are not among Removed: its
// answer tells of them.
type Change struct {
	ProfileHome string // resolved
	Removed     []string
	Pending     []cleanup.Pending // all that is pending now
}

// OnChange has tell called after each run that changed something. It must not wait: locks are held. Call it before anything
// else.
func (d *Deleter) OnChange(tell func(Change)) { d.tell = tell }

// LastRun gives the newest run over a resolved home in this process, if there was one.
func (d *Deleter) LastRun(homePath string) (Run, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	run, known := d.runs[homePath]
	return run, known
}

// Runs counts the runs over all homes.
func (d *Deleter) Runs() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ran
}

// Reports gives the newest cleanup report of each home that has something left to clean up, by its resolved path.
func (d *Deleter) Reports() map[string]cleanup.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	reports := map[string]cleanup.Report{}
	for path, run := range d.runs {
		if !run.Report.Complete() {
			reports[path] = run.Report
		}
	}
	return reports
}

// process works through the home's manifests and through the files that rows named, and notes the run. own is the media that
// the rows of the delete named which it ends: which of its files are stuck is told beside. ids are those of that delete.
func (d *Deleter) process(ctx context.Context, h lockedHome, own []statedb.Media, ids ...string) (cleanup.Report, []stuckFile) {
	report := h.folder.Process(ctx, d.liveUnderLocks(h))
	files := d.removeNamed(ctx, h, own, &report)
	if ctx.Err() == nil {
		d.warnOnce("cleanup left manifests as they are", h.path, report.Failed)
	}
	d.noteRun(ctx, h, report, ids)
	return report, files
}

// anyStuck tells whether one of the ids still has files to go: it was not settled in this run, or is pending. What older
// deletes left does not count.
func anyStuck(report cleanup.Report, ids []string) bool {
	settled := map[string]bool{}
	for _, id := range report.Removed {
		settled[id] = true
	}
	for _, p := range report.Pending {
		if p.Cause != cleanup.CauseMediaFailed { // which anyOwn tells
			delete(settled, p.SessionID)
		}
	}
	return slices.ContainsFunc(ids, func(id string) bool { return !settled[id] })
}

// noteRun keeps what a run left, and tells of what it changed. One that a cancel cut short knows only what it removed.
func (d *Deleter) noteRun(ctx context.Context, h lockedHome, report cleanup.Report, own []string) {
	d.mu.Lock()
	d.ran++
	before := d.runs[h.path].Report
	if ctx.Err() != nil {
		report.Pending = slices.DeleteFunc(slices.Clone(before.Pending), func(p cleanup.Pending) bool {
			return p.Cause != cleanup.CauseMediaFailed && slices.Contains(report.Removed, p.SessionID)
		})
	} else {
		kept := report
		if report.Failed == nil {
			kept.Removed = nil // nobody asks for these, and they may be many
		}
		d.runs[h.path] = Run{kept, time.Now()}
	}
	d.mu.Unlock()
	if change, any := changeOf(before, report, own); any {
		change.ProfileHome = h.path
		d.tell(change)
		if !h.unasked && !report.Complete() {
			d.watcher.Nudge(h.path)
		}
	}
}

// changeOf tells what a run changed, if that is anything. A manifest that cannot be removed settles the same ids in every run:
// that is told once.
func changeOf(before, now cleanup.Report, own []string) (change Change, any bool) {
	change.Pending = now.Pending
	mine := map[string]bool{}
	for _, id := range own {
		mine[id] = true
	}
	if now.Failed == nil || !slices.Equal(before.Removed, now.Removed) {
		change.Removed = slices.DeleteFunc(slices.Clone(now.Removed), func(id string) bool { return mine[id] })
	}
	return change, len(change.Removed) > 0 || !slices.Equal(before.Pending, now.Pending)
}

// warnOnce logs a failure of a home, but not the same one again and again: the watcher comes back.
func (d *Deleter) warnOnce(what, homePath string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	key := homePath + "\x00" + what
	d.mu.Lock()
	repeated := d.said[key] == text
	if text == "" {
		delete(d.said, key)
	} else {
		d.said[key] = text
	}
	d.mu.Unlock()
	if err != nil && !repeated {
		d.log.Warn(what, "home", homePath, "error", err)
	}
}

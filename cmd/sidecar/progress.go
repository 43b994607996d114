package main

import "github.com/jedib0t/go-pretty/v6/progress"

// progressBar shows how many of many are done, on a terminal only. done counts one up; stop takes the bar away.
func progressBar(p *paper, total int) (done, stop func()) {
	if !p.terminal || total < 2 {
		return func() {}, func() {}
	}
	writer := progress.NewWriter()
	writer.SetOutputWriter(p.out)
	writer.SetTrackerLength(20)
	writer.Style().Visibility.ETA = false
	writer.Style().Visibility.Speed = false
	tracker := &progress.Tracker{Message: "deleting", Total: int64(total)}
	writer.AppendTracker(tracker)
	finished := make(chan struct{})
	go func() {
		writer.Render()
		close(finished)
	}()
	return func() { tracker.Increment(1) }, func() {
		tracker.MarkAsDone()
		writer.Stop()
		<-finished
	}
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// askUser asks a question that only a clear yes answers, on standard error so that the output may go elsewhere. An interrupt
// is a no.
func askUser(ctx context.Context, question string) (bool, error) {
	if _, err := fmt.Fprintf(os.Stderr, "%s [y/N] ", question); err != nil {
		return false, err
	}
	typed := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input is a no
		typed <- line
	}()
	select {
	case line := <-typed:
		if !strings.HasSuffix(line, "\n") { // nobody has ended the question's line
			if _, err := fmt.Fprintln(os.Stderr); err != nil {
				return false, err
			}
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		_, err := fmt.Fprintln(os.Stderr)
		return false, err
	}
}

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

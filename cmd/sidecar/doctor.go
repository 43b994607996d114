package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"session-sidecar/internal/doctor"
	"session-sidecar/methods"
)

func newDoctorCommand() *cobra.Command {
	var question doctor.Question
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor --home DIR",
		Short: "Tell what is wrong with a history, and change nothing",
		Long: `Tells how a history and the files beside it are: what is damaged, what deletes left
over, and what is in the way of one. Nothing is changed, nothing is made, and no
Agent waits for it. Nothing of what a conversation says is printed.

It takes ten seconds each to read the trash, to read the manifests, to ask and to
check at most, and says what that was too little for. --full takes all the time
that it needs: it copies the history into the system's folder for temporary files
(TMPDIR), and reads the copy.

In a pipe each line has its cells separated by tabs: facts first, then what was
found, as "finding", severity (error, warning, note), word, and a sentence.
docs/reference/doctor.md says of each word what to do.

Exit status: 0 if all is well (notes may be there); 1 if something was found; 2 if
it could not be looked at, or for a wrong command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if question.Home == "" {
				return errHomeMissing
			}
			return examine(cmd, question, asJSON)
		},
	}
	cmd.Flags().StringVar(&question.Home, "home", "", homeUsage)
	cmd.Flags().StringVar(&question.AgentDir, "agent-dir", "", agentDirUsage)
	cmd.Flags().BoolVar(&question.Full, "full", false, "check all of it, in a copy, whatever time that takes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all of it as one line of JSON")
	completesFolders(cmd, "home", "agent-dir")
	return cmd
}

func examine(cmd *cobra.Command, question doctor.Question, asJSON bool) error {
	ends := []os.Signal{syscall.SIGTERM, syscall.SIGINT}
	for _, one := range []os.Signal{syscall.SIGHUP, syscall.SIGQUIT} { // a copy of the history must not stay behind a closed terminal
		if !signal.Ignored(one) { // as nohup asks
			ends = append(ends, one)
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), ends...)
	defer stop()
	p := newPaper(cmd.OutOrStdout())
	question.Begins = func(bytes int64, takes time.Duration) {
		fmt.Fprintf(os.Stderr, "A copy of %s is made in %s and checked, which takes about %v.\n", bytesText(bytes), plainText(os.TempDir()),
			takes.Round(time.Second))
	}
	report, err := doctor.Look(ctx, question)
	if err != nil {
		return notLooked(p, question.Home, err, asJSON)
	}
	if asJSON {
		p.json(report)
	} else {
		showReport(p, report)
	}
	if p.err != nil {
		return p.err
	}
	return failure(!report.Healthy)
}

// notLooked tells why there is no report.
func notLooked(p *paper, home string, err error, asJSON bool) error {
	reason, line := methods.Explain(err)
	if errors.Is(err, context.Canceled) {
		reason, line = methods.ConditionCancelled, "it was interrupted"
	}
	if asJSON {
		p.json(struct {
			Home    string         `json:"home"`
			Looked  bool           `json:"looked"`
			Healthy bool           `json:"healthy"`
			Reason  methods.Reason `json:"reason,omitempty"`
			Detail  string         `json:"detail"`
		}{home, false, false, reason, line})
		return errors.Join(p.err, exitCode(exitNotLooked))
	}
	if reason != "" {
		line += " (" + string(reason) + ")"
	}
	fmt.Fprintln(os.Stderr, "sidecar: this could not be looked at:", plainText(line))
	return exitCode(exitNotLooked)
}

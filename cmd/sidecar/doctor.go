package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"session-sidecar/internal/doctor"
	"session-sidecar/methods"
)

// exitNotLooked says that there is nothing to tell of a home: it could not be looked at.
const exitNotLooked = 2

func newDoctorCommand() *cobra.Command {
	var question doctor.Question
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor --home DIR",
		Short: "Tell what is wrong with a history, and change nothing",
		Long: `Tells how a history and the files beside it are: what is damaged, what deletes left
over, and what is in the way of one. Nothing is changed, nothing is made, and no
Agent waits for it. Nothing of what a conversation says is printed.

It takes ten seconds to read the trash, ten to ask and ten to check at most, and
says what that was too little for. --full takes all the time that it needs: it copies the history into
the system's folder for temporary files (TMPDIR), and reads the copy.

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
		err = printJSON(p, report)
	} else {
		err = showReport(p, report)
	}
	if err == nil && !report.Healthy {
		err = exitCode(exitFailure)
	}
	return err
}

// notLooked tells why there is no report.
func notLooked(p *paper, home string, err error, asJSON bool) error {
	reason, line := methods.Explain(err)
	if errors.Is(err, context.Canceled) {
		reason, line = methods.ConditionCancelled, "it was interrupted"
	}
	if asJSON {
		said := printJSON(p, struct {
			Home    string         `json:"home"`
			Looked  bool           `json:"looked"`
			Healthy bool           `json:"healthy"`
			Reason  methods.Reason `json:"reason,omitempty"`
			Detail  string         `json:"detail"`
		}{home, false, false, reason, line})
		return errors.Join(said, exitCode(exitNotLooked))
	}
	if reason != "" {
		line += " (" + string(reason) + ")"
	}
	fmt.Fprintln(os.Stderr, "sidecar: this could not be looked at:", plainText(line))
	return exitCode(exitNotLooked)
}

// showReport prints the facts, then what was found.
func showReport(p *paper, r *doctor.Report) error {
	if err := p.columns([]string{"", ""}, factsOf(r)); err != nil {
		return err
	}
	if r.Guards != nil && len(r.Guards.First) > 0 {
		var rows [][]string
		for _, g := range r.Guards.First {
			rows = append(rows, guardRow(g))
		}
		p.withoutKind(rows)
		if err := p.columns(make([]string, len(rows[0])), rows); err != nil {
			return err
		}
	}
	var rows [][]string
	wrong := 0
	for _, f := range r.Findings {
		if f.Severity != doctor.Note {
			wrong++
		}
		rows = append(rows, []string{"finding", string(f.Severity), string(f.Word), withNames(f)})
	}
	if len(rows) > 0 {
		p.withoutKind(rows)
		if err := p.columns(make([]string, len(rows[0])), rows); err != nil {
			return err
		}
	}
	if wrong == 0 {
		return p.say("healthy")
	}
	return p.say("%s", count(wrong, "thing")+" to look at; docs/reference/doctor.md says what to do")
}

// withoutKind takes away on a terminal what tells programs the kinds of rows apart: people see it.
func (p *paper) withoutKind(rows [][]string) {
	for i := range rows {
		if p.terminal {
			rows[i] = rows[i][1:]
		}
	}
}

// withNames is a finding's sentence with the names that are not in it already.
func withNames(f doctor.Finding) string {
	names := slices.DeleteFunc(slices.Clone(f.Names), func(name string) bool { return strings.Contains(f.Line, name) })
	if len(names) == 0 {
		return f.Line
	}
	return f.Line + ": " + strings.Join(names, ", ")
}

func guardRow(g doctor.Guard) []string {
	until := "for ever"
	if g.ExpiresAt != nil {
		until = "until " + momentText(g.ExpiresAt)
	}
	state := "holder " + string(g.State)
	if g.Stale {
		state += ", stale"
	}
	return []string{"guard", string(g.Kind), g.SessionID, state, until, g.Holder}
}

// factSheet are the facts as rows. What nobody knows has none.
type factSheet [][]string

func (s *factSheet) add(name, format string, args ...any) {
	*s = append(*s, []string{name, fmt.Sprintf(format, args...)})
}

func (s *factSheet) addNumber(name string, n *int64) {
	if n != nil {
		s.add(name, "%d", *n)
	}
}

func (s *factSheet) addFences(name string, f *doctor.Fences) {
	if f != nil {
		s.add(name, "%d, of which %d expire", f.All, f.Expiring)
	}
}

func factsOf(r *doctor.Report) [][]string {
	var s factSheet
	if r.Kind != "" {
		s.add("kind of store", "%s", r.Kind)
		s.addNumber("schema version", r.SchemaVersion)
		s.add("path", "%s", cmp.Or(string(r.Path), "none"))
	}
	s.addNumber("sessions", r.Sessions)
	s.addNumber("messages", r.Messages)
	size := bytesText(r.Bytes)
	if r.FreeBytes != nil {
		size += ", of which " + bytesText(*r.FreeBytes) + " free"
	}
	s.add("size", "%s", size)
	s.add("write-ahead log", "%s", bytesText(r.WALBytes))
	if r.JournalMode != "" {
		s.add("journal mode", "%s", r.JournalMode)
	}
	if k := r.Checked; k != nil {
		s.add("tables checked", "%d of %d", k.Tables, k.Of)
		for _, index := range k.Indexes {
			s.add("index "+index.Name, "%s", indexText(index))
		}
	}
	s.addContents(r)
	if f := r.Files; f != nil {
		s.add("files of sessions", "%d, and %d of none", f.Artifacts, f.Orphans)
		s.add("manifests", "%d, of which %d cannot be read", f.Manifests, f.Unreadable)
		for _, pending := range f.Pending {
			s.add("pending "+pending.SessionID, "%s", pending.Cause)
		}
	}
	if t := r.Trash; t != nil {
		s.add("kept in the trash", "%d (%s), of which %d cannot be restored", t.Entries, bytesText(t.Bytes), t.Unreadable)
	}
	s.add("clean-up lock", "%s", lockText(r.Lock))
	return s
}

func (s *factSheet) addContents(r *doctor.Report) {
	if r.Guards != nil {
		s.add("guards", "%d", r.Guards.Count)
	}
	if r.Unsettled != nil {
		s.add("requests, workers not settled", "%d, %d", r.Unsettled.Requests, r.Unsettled.Workers)
	}
	s.addFences("tombstones", r.Tombstones)
	s.addFences("route fences", r.RouteFences)
	if r.Intents != nil {
		s.add("route intents", "%d", *r.Intents)
	}
	if r.FilesNoted != nil {
		s.add("files noted", "%d", *r.FilesNoted)
	}
	switch receipts := r.Receipts; {
	case receipts == nil:
	case receipts.There:
		s.add("deletion receipts", "%d, the newest ever is %d", receipts.Count, receipts.Head)
	default:
		s.add("deletion receipts", "none was ever written")
	}
}

func indexText(index doctor.Index) string {
	switch {
	case !index.Usable:
		return "this build cannot read it, " + index.Tokenizer
	case index.Damaged:
		return "damaged, " + index.Tokenizer
	case !index.Checked:
		return "not checked, " + index.Tokenizer
	}
	return "sound, " + index.Tokenizer
}

func lockText(l doctor.Lock) string {
	switch {
	case !l.There:
		return "free: no delete was ever made here"
	case !l.Known:
		return "this system does not tell who holds it"
	case len(l.Holders) == 0:
		return "free"
	}
	text := "held by"
	for _, h := range l.Holders {
		text += fmt.Sprintf(" process %d %s", h.PID, h.Name)
	}
	return text
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"
)

type deleteFlags struct {
	homeFlags
	scopeFlags
	agreed     consent
	dryRun     bool
	export     string
	keep       keepFlag
	purgeIndex bool
}

type bulkAnswer struct {
	Results   []json.RawMessage `json:"results"` // deleted
	Cancelled bool              `json:"cancelled"`
}

func newDeleteCommand() *cobra.Command {
	var flags deleteFlags
	cmd := &cobra.Command{
		Use:   "delete --home DIR SESSION...",
		Short: "Delete conversations, after showing what goes and asking",
		Long: `Shows what would go, asks, and deletes exactly that: if a conversation has
changed in between, it is left alone. A session that is in use is never deleted.

With --keep 30d the messages are kept in the profile's trash for thirty days, and
'sidecar trash restore' brings them back; files, routes and running work do not
come back. Until then the text of it is on the disk.

The search indexes keep deleted words for a while. --purge-index takes them out
and empties the history's log, which may take some seconds. An interrupt stops
that; delete the same session again to go on.

Exit status: 0 if all of it is gone; 1 if something was refused or failed, or
--purge-index left something; 2 for a wrong command line; 3 if you said no.`,
		Example: `  sidecar delete --home ~/.agent 20261118_142233_9fea03
  sidecar delete --home ~/.agent --keep 30d 20261118_142233_9fea03
  sidecar delete --home ~/.agent --export ~/copy.json --yes 20261118_142233_9fea03`,
		Args: sessionArguments(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			args = distinct(args)
			return flags.run(cmd, func(ctx context.Context, e *errand) error { return flags.delete(ctx, e, args) })
		},
	}
	flags.homeFlags.add(cmd)
	flags.scopeFlags.add(cmd)
	flags.agreed.add(cmd, "do not ask")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show what would go, and do nothing")
	flags.keep.add(cmd.Flags(), "keep what goes in the trash for 1d to 90d (or 1 to 90)")
	cmd.Flags().StringVar(&flags.export, "export", "",
		"first write a copy to this new file; with several sessions, to a file for each in this folder")
	completes(cmd, "export", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)) // a file
	cmd.Flags().BoolVar(&flags.purgeIndex, "purge-index", false, "then take deleted words out of the search indexes too")
	return cmd
}

// check refuses what could be misunderstood before anything is looked at.
func (f *deleteFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("export") && f.export == "":
		return usageError{errors.New("--export needs the name of a file")}
	case f.export != "" && f.dryRun:
		return usageError{errors.New("--dry-run does nothing, and so writes no copy")}
	case f.dryRun:
		return nil
	}
	return f.agreed.check(f.json, "nothing is shown to agree to", "add --yes, or --dry-run")
}

// distinct drops ids that were named before.
func distinct(ids []string) []string {
	var seen []string
	for _, id := range ids {
		if !slices.Contains(seen, id) {
			seen = append(seen, id)
		}
	}
	return seen
}

// delete shows what would go, asks, and deletes that.
func (f *deleteFlags) delete(ctx context.Context, e *errand, ids []string) error {
	plans, refused, err := f.plans(ctx, e, ids)
	if err != nil {
		return err
	}
	if f.dryRun {
		return failure(len(refused) > 0)
	}
	// What was shown as refused is left alone, even if nothing is in its way any more by now: nobody agreed to it.
	agreed := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return plans[id] == nil })
	if len(agreed) > 0 {
		if err := f.agreed.given(ctx, f.question(), "Nothing was deleted."); err != nil {
			return err
		}
	}
	if err := f.exportAll(ctx, e, agreed, len(ids) > 1); err != nil {
		return err
	}
	expected := map[string][]string{}
	for id, plan := range plans {
		expected[id] = plan.ids()
	}
	answer, err := f.deleteAll(ctx, e, agreed, expected)
	if err != nil {
		return err
	}
	return f.tell(e, answer, refused)
}

func (f *deleteFlags) question() string {
	if f.keep.days > 0 {
		return fmt.Sprintf("Files go for good; the rest can be brought back until %s. Delete this?", f.keep.until())
	}
	return "Delete this for good?"
}

// plans shows what each delete would do, and gives the plans of those that would not be refused, and the others.
func (f *deleteFlags) plans(ctx context.Context, e *errand, ids []string) (plans map[string]*plan, refused []json.RawMessage, err error) {
	plans = map[string]*plan{}
	for _, id := range ids {
		plan, raw, err := previewOne(ctx, e, f.scopeFlags, f.keep, id)
		if err == nil && (f.dryRun || !e.json) {
			err = e.print(raw, func(p *paper) { plan.show(p, id) })
		}
		if err != nil {
			return nil, nil, err
		}
		if plan.Reason == "" {
			plans[id] = &plan
			continue
		}
		item, err := json.Marshal(map[string]any{
			"session_id": id, "ok": false, "reason": plan.Reason, "detail": plan.Detail, "guards": plan.Guards,
		})
		if err != nil {
			return nil, nil, err
		}
		refused = append(refused, item)
	}
	return plans, refused, nil
}

// exportAll writes the copies that were asked for, before anything is deleted.
func (f *deleteFlags) exportAll(ctx context.Context, e *errand, ids []string, intoFolder bool) error {
	if f.export == "" {
		return nil
	}
	for _, id := range ids {
		to := f.export
		if intoFolder { // as many were named, however many of them are left
			to = filepath.Join(to, id+".json")
		}
		absolute, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		_, _, err = askAbout[struct{}](ctx, e, "state_db.export_conversation", f.addTo(map[string]any{"session_id": id, "to": absolute}))
		if err != nil {
			return fmt.Errorf("nothing was deleted, for there is no copy of %s: %w", id, err)
		}
		if !e.json {
			e.paper.say("copied\t%s\t%s", id, to)
		}
	}
	return e.paper.err
}

// deleteAll deletes what was agreed to, and shows on a terminal how far that is.
func (f *deleteFlags) deleteAll(ctx context.Context, e *errand, ids []string, expected map[string][]string) (bulkAnswer, error) {
	params := f.keep.addTo(f.addTo(map[string]any{"session_ids": ids, "expected_ids": expected}))
	if f.purgeIndex {
		params["purge_index"] = true
	}
	done, stop := progressBar(e.paper, len(ids))
	stop = sync.OnceFunc(stop)
	defer stop()
	purging := sync.OnceFunc(func() {
		stop()
		if e.paper.terminal {
			_, _ = fmt.Fprintln(os.Stderr, "Taking the words out of the search indexes...")
		}
	})
	answer, _, err := askTelling[bulkAnswer](ctx, e, "state_db.delete_sessions", params, func(event string, _ json.RawMessage) {
		switch event {
		case "progress":
			done()
		case "purge":
			purging()
		}
	})
	return answer, err
}

// tell says what became of everything that was named. Where something is left of it, that is the exit status.
func (f *deleteFlags) tell(e *errand, answer bulkAnswer, refused []json.RawMessage) error {
	failed := len(refused) > 0
	var erase *erased
	for _, raw := range answer.Results {
		var item deleted
		if err := json.Unmarshal(raw, &item); err != nil {
			return err
		}
		failed = failed || !item.OK
		if item.Erase != nil {
			erase = item.Erase // the same in all of them
		}
		if !e.json {
			item.say(e.paper, f.keep.days > 0)
		}
	}
	if f.purgeIndex && erase != nil {
		failed = failed || !erase.whole()
		if !e.json {
			erase.say(e.paper)
		}
	}
	if e.json {
		answer.Results = append(answer.Results, refused...)
		e.paper.json(answer)
	}
	if e.paper.err != nil {
		return e.paper.err
	}
	return failure(failed)
}

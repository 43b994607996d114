package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/deletion"
)

// measureDelete takes turns: in each round the floor, a scan, a delete and the plain script's delete of the same family, on
// copies of the same store that an Agent has open.
func measureDelete(ctx context.Context, t *testbed) (r result, err error) {
	bare, ours, theirs, made := t.homes[0], t.homes[1], t.homes[2], t.made
	if t.files {
		for i := range made.sessions {
			if err := ours.writeFiles(made.id(i)); err != nil {
				return r, err
			}
		}
	}
	var script *plainScript
	if _, err := exec.LookPath("python3"); err == nil {
		if script, err = startPlain(ctx); err != nil {
			return r, err
		}
		defer script.end()
	}

	floor, scan := series{Name: "floor", About: "the rows alone"}, series{Name: "scan", About: "every marker once"}
	whole, held := series{Name: "delete"}, series{Name: "held", About: "the write lock in it"}
	plain := series{Name: "plain", About: "a Python script"}
	apart := made.families() / (t.rounds + 1)
	for round := range t.rounds + 1 {
		ids := made.family(round * apart)
		one, err := bare.floor(ctx, made, ids)
		if err != nil {
			return r, fmt.Errorf("the bare row deletes: %w", err)
		}
		two, err := ours.scan(ctx, ids)
		if err != nil {
			return r, fmt.Errorf("the bare scan: %w", err)
		}
		three, under, err := ours.delete(ctx, t.deleter, ids)
		if err != nil {
			return r, fmt.Errorf("the delete: %w", err)
		}
		var four time.Duration
		if script != nil {
			if four, err = theirs.plain(script, ids); err != nil {
				return r, fmt.Errorf("the plain script: %w", err)
			}
		}
		if err := t.settle(ctx); err != nil {
			return r, err
		}
		floor.count(round, one)
		scan.count(round, two)
		whole.count(round, three)
		held.count(round, under)
		plain.count(round, four)
	}
	r = result{Series: []series{floor, scan, whole, held}}
	r.compare(figure{Name: wholeToLeast, Target: 1.5}, func(p picked) float64 { return p["delete"] / (p["scan"] + p["floor"]) })
	r.compare(figure{Name: heldToFloor, Target: 3}, func(p picked) float64 { return p["held"] / p["floor"] })
	if script == nil {
		r.Notes = append(r.Notes, "there is no python3: no plain script")
	} else {
		r.Series = append(r.Series, plain)
		atLeast := 10.0
		if made.schema == runtimeSchema {
			atLeast = 3
		}
		r.compare(figure{Name: plainToOurs, Target: atLeast, AtLeast: true}, func(p picked) float64 { return p["plain"] / p["delete"] })
	}
	if t.files {
		r.Notes = append(r.Notes, "a file for each session")
	}
	if t.sweep > 0 && made.schema == runtimeSchema {
		one, err := ours.sweep(ctx, t.deleter, made, t.sweep)
		if err != nil {
			return r, fmt.Errorf("the sweep: %w", err)
		}
		r.Notes = append(r.Notes, one.line())
	}
	return r, nil
}

// The ratios that a delete is judged by.
const (
	wholeToLeast = "delete / (scan + floor)"
	heldToFloor  = "held / floor"
	plainToOurs  = "plain / delete"
)

// byUser makes these deletes leave a receipt, as those of a host do.
var byUser = deletion.Provenance{Reason: "explicit_user", Surface: "session_rpc"}

// delete is ours, from the call to its answer: the locks, the decision, the rows, the manifest and the files.
func (h *home) delete(ctx context.Context, deleter *deletion.Deleter, ids []string) (whole, held time.Duration, err error) {
	if err := h.writeFiles(ids...); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	outcome, err := deleter.Delete(ctx, byUser, deletion.Request{ProfileHome: h.path, SessionID: ids[0]})
	whole = time.Since(start)
	if err != nil {
		return 0, 0, err
	}
	return whole, outcome.LockHeld, wentAs(ids, outcome)
}

// wentAs makes sure that what was measured was the delete of these ids.
func wentAs(ids []string, outcome *deletion.Outcome) error {
	if gone := outcome.Plan.IDs(); !slices.Equal(gone, ids) || outcome.Stuck {
		return fmt.Errorf("[%s] went, not [%s] with their files", strings.Join(gone, " "), strings.Join(ids, " "))
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"time"

	"session-sidecar/internal/deletion"
)

// measureDelete takes turns: in each round the floor, a scan, a delete and the plain script's delete of the same family, on
// copies of the same store that an Agent has open. The first round is not counted, since it fills the system's caches.
func measureDelete(ctx context.Context, l *lab, made history) (r result, err error) {
	rounds := l.rounds
	if rounds+1 > made.families() {
		return r, fmt.Errorf("%d sessions are too few for %d rounds; %d are enough", made.sessions, rounds, (rounds+1)*made.between())
	}
	store, bytes, err := l.store(ctx, made)
	if err != nil {
		return r, err
	}
	folder, remove, err := l.bench()
	if err != nil {
		return r, err
	}
	defer remove()
	homes, closeAll, err := newHomes(ctx, folder, store, "floor", "delete", "plain")
	if err != nil {
		return r, err
	}
	defer closeAll()
	bare, ours, theirs := homes[0], homes[1], homes[2]
	if l.files {
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
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()

	floor, scan := series{Name: "floor", About: "the rows alone"}, series{Name: "scan", About: "every marker once"}
	whole, held := series{Name: "delete"}, series{Name: "held", About: "the write lock in it"}
	plain := series{Name: "plain", About: "a Python script"}
	apart := made.families() / (rounds + 1)
	for round := range rounds + 1 {
		ids := made.family(round * apart)
		one, err := bare.floor(ctx, made, ids)
		if err != nil {
			return r, fmt.Errorf("the bare row deletes: %w", err)
		}
		two, err := ours.scan(ctx, ids)
		if err != nil {
			return r, fmt.Errorf("the bare scan: %w", err)
		}
		three, under, err := ours.delete(ctx, deleter, ids)
		if err != nil {
			return r, fmt.Errorf("the delete: %w", err)
		}
		var four time.Duration
		if script != nil {
			if four, err = theirs.plain(script, ids); err != nil {
				return r, fmt.Errorf("the plain script: %w", err)
			}
		}
		for _, h := range homes {
			if err := h.settle(ctx); err != nil {
				return r, err
			}
		}
		if round > 0 {
			floor.Took, scan.Took = append(floor.Took, one), append(scan.Took, two)
			whole.Took, held.Took = append(whole.Took, three), append(held.Took, under)
			plain.Took = append(plain.Took, four)
		}
	}
	r = result{StoreBytes: bytes, Series: []series{floor, scan, whole, held}}
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
	if l.files {
		r.Notes = append(r.Notes, "a file for each session")
	}
	if l.sweep > 0 && made.schema == runtimeSchema {
		one, err := ours.sweep(ctx, deleter, made, l.sweep)
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

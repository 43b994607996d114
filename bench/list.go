package main

import (
	"context"
	"errors"
	"time"
)

// measureList asks the program for the first page of the list, and for a preview, beside a scan.
func measureList(ctx context.Context, l *lab, made history) (r result, err error) {
	rounds := min(l.rounds, made.families()-1)
	if rounds < 1 {
		return r, errors.New("the store is too small")
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
	homes, closeAll, err := newHomes(ctx, folder, store, "list")
	if err != nil {
		return r, err
	}
	defer closeAll()
	h := homes[0]
	program, err := l.program(ctx, sidecarProgram)
	if err != nil {
		return r, err
	}
	sidecar, err := spawn(ctx, program)
	if err != nil {
		return r, err
	}
	defer sidecar.end()
	if err := sidecar.handshake(); err != nil {
		return r, err
	}
	scans := series{Name: "scan", About: "every marker once"}
	lists, previews := series{Name: "list", About: "the first 50 conversations"}, series{Name: "preview", About: "of a family of two"}
	for round := range rounds + 1 {
		ids := made.family(round)
		scan, err := h.scan(ctx, ids)
		if err != nil {
			return r, err
		}
		list, err := timed(func() error { return sidecar.list(h.path) })
		if err != nil {
			return r, err
		}
		preview, err := timed(func() error { return sidecar.preview(h.path, ids[0]) })
		if err != nil {
			return r, err
		}
		if err := h.settle(ctx); err != nil {
			return r, err
		}
		if round > 0 {
			scans.Took, lists.Took, previews.Took = append(scans.Took, scan), append(lists.Took, list), append(previews.Took, preview)
		}
	}
	r = result{StoreBytes: bytes, Series: []series{scans, lists, previews}}
	r.compare(figure{Name: "list / scan", Target: 2}, func(p picked) float64 { return p["list"] / p["scan"] })
	r.compare(figure{Name: "preview / scan", Target: 2}, func(p picked) float64 { return p["preview"] / p["scan"] })
	return r, nil
}

func timed(work func() error) (time.Duration, error) {
	start := time.Now()
	err := work()
	return time.Since(start), err
}

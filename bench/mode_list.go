package main

import (
	"context"
	"time"
)

// measureList asks the program for the first page of the list, and for a preview, beside a scan.
func measureList(ctx context.Context, t *testbed) (r result, err error) {
	h := t.homes[0]
	sidecar, err := t.sidecar(ctx)
	if err != nil {
		return r, err
	}
	defer sidecar.end()
	scans := series{Name: "scan", About: "every marker once"}
	lists, previews := series{Name: "list", About: "the first 50 conversations"}, series{Name: "preview", About: "of a family of two"}
	for round := range t.rounds + 1 {
		ids := t.made.family(round)
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
		scans.count(round, scan)
		lists.count(round, list)
		previews.count(round, preview)
	}
	r = result{Series: []series{scans, lists, previews}}
	r.compare(figure{Name: "list / scan", Target: 2}, func(p picked) float64 { return p["list"] / p["scan"] })
	r.compare(figure{Name: "preview / scan", Target: 2}, func(p picked) float64 { return p["preview"] / p["scan"] })
	return r, nil
}

func timed(work func() error) (time.Duration, error) {
	start := time.Now()
	err := work()
	return time.Since(start), err
}

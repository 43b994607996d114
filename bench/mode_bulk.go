package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"session-sidecar/internal/deletion"
	"session-sidecar/internal/foldersync"
)

// measureBulk deletes many conversations in one call, once: beside the sum of their floors, one durable manifest for each, and
// one scan.
func measureBulk(ctx context.Context, t *testbed) (r result, err error) {
	bare, ours, made := t.homes[0], t.homes[1], t.made
	count := min(t.conversations, made.families())
	var families [][]string
	request := deletion.BulkRequest{Request: deletion.Request{ProfileHome: ours.path}}
	for n := range count {
		ids := made.family(n * (made.families() / count))
		families = append(families, ids)
		request.SessionIDs = append(request.SessionIDs, ids[0])
		if err := ours.writeFiles(ids...); err != nil {
			return r, err
		}
	}
	if _, err := bare.scan(ctx, families[0]); err != nil { // it fills the system's caches
		return r, err
	}
	scan, err := bare.scan(ctx, families[0])
	if err != nil {
		return r, err
	}
	floors, err := bare.floors(ctx, made, families...)
	if err != nil {
		return r, fmt.Errorf("the bare row deletes: %w", err)
	}
	var manifests, held []time.Duration
	for n, ids := range families {
		took, err := bare.writeManifest(n, ids)
		if err != nil {
			return r, err
		}
		manifests = append(manifests, took)
	}
	start := time.Now()
	items := t.deleter.DeleteMany(ctx, byUser, request, func(int, deletion.BulkItem) {})
	bulk := time.Since(start)
	for n, item := range items {
		if item.Err != nil {
			return r, item.Err
		}
		if item.Outcome == nil {
			return r, fmt.Errorf("%s went with %s", item.SessionID, item.TakenBy)
		}
		if err := wentAs(families[n], item.Outcome); err != nil {
			return r, err
		}
		held = append(held, item.Outcome.LockHeld)
	}
	r = result{Notes: []string{fmt.Sprintf("%d conversations in one call", count)}, Series: []series{
		{Name: "floors", About: "the rows alone, a transaction each", Took: sum(floors)},
		{Name: "manifests", About: "one for each, durable", Took: sum(manifests)},
		{Name: "scan", About: "every marker once", Took: []time.Duration{scan}},
		{Name: "bulk", Took: []time.Duration{bulk}},
		{Name: "held", About: "the write lock, all together", Took: sum(held)},
	}}
	r.compare(figure{Name: "bulk / (floors + manifests + scan)", Target: 1.3}, func(p picked) float64 {
		return p["bulk"] / (p["floors"] + p["manifests"] + p["scan"])
	})
	r.compare(figure{Name: "held / (floors + scan)"}, func(p picked) float64 { return p["held"] / (p["floors"] + p["scan"]) })
	return r, nil
}

// sum is how long all of them took together.
func sum(of []time.Duration) []time.Duration {
	var total time.Duration
	for _, took := range of {
		total += took
	}
	return []time.Duration{total}
}

// writeManifest writes a file as durably as a manifest must be, and takes it away again, which is not timed.
func (h *home) writeManifest(n int, ids []string) (took time.Duration, err error) {
	text, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	folder := filepath.Join(h.path, "sessions")
	path := filepath.Join(folder, fmt.Sprintf("manifest_%d.json", n))
	start := time.Now()
	file, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return 0, err
	}
	if err := foldersync.Sync(func() (*os.File, error) { return os.Open(folder) }); err != nil {
		return 0, err
	}
	took = time.Since(start)
	return took, os.Remove(path)
}

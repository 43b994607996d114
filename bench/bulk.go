package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"session-sidecar/internal/deletion"
)

// measureBulk deletes many conversations in one call, once: beside the sum of their floors, one durable manifest for each, and
// one scan.
func measureBulk(ctx context.Context, l *lab, made history) (r result, err error) {
	count := min(l.conversations, made.families())
	store, bytes, err := l.store(ctx, made)
	if err != nil {
		return r, err
	}
	folder, remove, err := l.bench()
	if err != nil {
		return r, err
	}
	defer remove()
	homes, closeAll, err := newHomes(ctx, folder, store, "floor", "delete")
	if err != nil {
		return r, err
	}
	defer closeAll()
	bare, ours := homes[0], homes[1]
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
	floors, err := bare.floorAgain(ctx, made, families...)
	if err != nil {
		return r, fmt.Errorf("the bare row deletes: %w", err)
	}
	manifests := series{}
	for n, ids := range families {
		took, err := bare.writeManifest(n, ids)
		if err != nil {
			return r, err
		}
		manifests.Took = append(manifests.Took, took)
	}
	deleter := deletion.New(slog.New(slog.DiscardHandler))
	defer deleter.Close()
	start := time.Now()
	items := deleter.DeleteMany(ctx, byUser, request, func(int, deletion.BulkItem) {})
	bulk := time.Since(start)
	held := series{}
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
		held.Took = append(held.Took, item.Outcome.LockHeld)
	}
	r = result{StoreBytes: bytes, Notes: []string{fmt.Sprintf("%d conversations in one call", count)}, Series: []series{
		floors.sum("floors", "the rows alone, a transaction each"),
		manifests.sum("manifests", "one for each, durable"),
		{Name: "scan", About: "every marker once", Took: []time.Duration{scan}},
		{Name: "bulk", Took: []time.Duration{bulk}},
		held.sum("held", "the write lock, all together"),
	}}
	r.compare(figure{Name: "bulk / (floors + manifests + scan)", Target: 1.3}, func(p picked) float64 {
		return p["bulk"] / (p["floors"] + p["manifests"] + p["scan"])
	})
	r.compare(figure{Name: "held / (floors + scan)"}, func(p picked) float64 { return p["held"] / (p["floors"] + p["scan"]) })
	return r, nil
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
	if err := syncFolder(folder); err != nil {
		return 0, err
	}
	took = time.Since(start)
	return took, os.Remove(path)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// report is one store, measured.
type report struct {
	Schema     string             `json:"schema"`
	Sessions   int                `json:"sessions"`
	StoreBytes int64              `json:"store_bytes"`
	Files      bool               `json:"files"` // every session has one
	Rounds     int                `json:"rounds"`
	CPUs       int                `json:"cpus"`
	Samples    samples            `json:"nanoseconds"`
	Ratios     map[string]float64 `json:"ratios"` // of the medians
}

func newReport(h history, storeBytes int64, files bool, s samples) report {
	return report{h.schema, h.sessions, storeBytes, files, len(s.Floor), runtime.NumCPU(), s, s.ratios(median)}
}

// The ratios that a delete is judged by. They mean the same on every machine.
const (
	wholeToFloor  = "delete / (scan + floor)"
	heldToFloor   = "held / floor"
	heldToScanned = "held / (scan + 3 floor)"
)

// ratios are taken between what one and the same function picks from each kind of durations.
func (s samples) ratios(pick func([]time.Duration) time.Duration) map[string]float64 {
	floor, scan := pick(s.Floor).Seconds(), pick(s.Scan).Seconds()
	whole, held := pick(s.Delete).Seconds(), pick(s.Held).Seconds()
	return map[string]float64{
		wholeToFloor:  whole / (scan + floor),
		heldToFloor:   held / floor,
		heldToScanned: held / (scan + 3*floor),
	}
}

// median is the middle one; of two middle ones the larger.
func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

func (r report) writeJSON(out io.Writer) error { return json.NewEncoder(out).Encode(r) }

func (r report) writeTable(out io.Writer) error {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Options = table.OptionsNoBordersAndSeparators
	w.Style().Format.Header = text.FormatDefault
	w.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight},
	})
	w.AppendHeader(table.Row{fmt.Sprintf("%s, %d sessions", r.Schema, r.Sessions), "median", "fastest", "slowest"})
	for _, row := range []struct {
		name string
		of   []time.Duration
	}{
		{"floor: the rows alone", r.Samples.Floor},
		{"scan: every marker once", r.Samples.Scan},
		{"delete", r.Samples.Delete},
		{"held: the write lock in it", r.Samples.Held},
	} {
		w.AppendRow(table.Row{row.name, milliseconds(median(row.of)), milliseconds(slices.Min(row.of)), milliseconds(slices.Max(row.of))})
	}
	fastest := r.Samples.ratios(slices.Min[[]time.Duration])
	for _, name := range []string{wholeToFloor, heldToFloor, heldToScanned} {
		w.AppendRow(table.Row{name, fmt.Sprintf("%.2f", r.Ratios[name]), fmt.Sprintf("%.2f", fastest[name])})
	}
	files := ""
	if r.Files {
		files = ", a file for each session"
	}
	sweep := ""
	if r.Samples.Sweep != nil {
		sweep = " " + r.Samples.Sweep.line() + "\n"
	}
	_, err := fmt.Fprintf(out, "%s\n %d MiB%s, %d rounds, %d cores\n%s\n", w.Render(), r.StoreBytes>>20, files, r.Rounds, r.CPUs, sweep)
	return err
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

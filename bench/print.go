package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printerOf is how results are printed: as tables, as JSON, or as a Go benchmark prints them.
func printerOf(o options, out io.Writer) func(result) error {
	switch {
	case o.json:
		return func(r result) error { return json.NewEncoder(out).Encode(r) }
	case o.gobench:
		return func(r result) error { return r.writeGoBench(out) }
	}
	return func(r result) error { return r.writeTable(out) }
}

func (r *result) label() string { return history{schema: r.Schema, sessions: r.Sessions}.label(r.Mode) }

func plainTable(numbers int) table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Options = table.OptionsNoBordersAndSeparators
	w.Style().Format.Header = text.FormatDefault
	var right []table.ColumnConfig
	for column := range numbers {
		right = append(right, table.ColumnConfig{Number: column + 2, Align: text.AlignRight})
	}
	w.SetColumnConfigs(right)
	return w
}

func (r *result) writeTable(out io.Writer) error {
	w := plainTable(4)
	w.AppendHeader(table.Row{r.label(), "median", "fastest", "slowest", "target"})
	for _, s := range r.Series {
		name := s.Name
		if s.About != "" {
			name += ": " + s.About
		}
		w.AppendRow(table.Row{name, milliseconds(median(s.Took)), milliseconds(slices.Min(s.Took)), milliseconds(slices.Max(s.Took))})
	}
	for _, f := range r.Figures {
		fastest, target := "", f.target()
		if f.Fastest != 0 {
			fastest = number(f.Fastest)
		}
		if target != "" && !r.judged() {
			target = fmt.Sprintf("(%s from %d)", target, targetFrom)
		}
		w.AppendRow(table.Row{f.Name, number(f.Value) + f.Unit, fastest, "", target})
	}
	notes := ""
	if r.StoreBytes > 0 {
		notes = fmt.Sprintf(" %d MiB, %d cores\n", r.StoreBytes>>20, r.CPUs)
	}
	for _, note := range r.Notes {
		notes += " " + note + "\n"
	}
	_, err := fmt.Fprintf(out, "%s\n%s\n", w.Render(), notes)
	return err
}

func milliseconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.3f ms", d.Seconds()*1000)
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

// writeGoBench writes each duration as one line of a Go benchmark: benchstat sees how they are spread.
func (r *result) writeGoBench(out io.Writer) error {
	var lines strings.Builder
	fmt.Fprintf(&lines, "goos: %s\ngoarch: %s\npkg: session-sidecar/bench\n", runtime.GOOS, runtime.GOARCH)
	base := fmt.Sprintf("Benchmark%s%s/schema=%s", strings.ToUpper(r.Mode[:1]), r.Mode[1:], r.Schema)
	if r.Sessions > 0 {
		base += fmt.Sprintf("/sessions=%d", r.Sessions)
	}
	for _, s := range r.Series {
		for _, took := range s.Took {
			fmt.Fprintf(&lines, "%s/of=%s 1 %d ns/op\n", base, strings.ReplaceAll(s.Name, " ", "_"), took.Nanoseconds())
		}
	}
	for _, f := range r.Figures {
		if f.Unit == megabytes {
			fmt.Fprintf(&lines, "%s/of=%s 1 %.0f B\n", base, strings.ReplaceAll(f.Name, " ", "_"), f.Value*1e6)
		}
	}
	_, err := io.WriteString(out, lines.String())
	return err
}

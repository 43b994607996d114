package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// What stands between the marks of a document is written by us, the rest by hand.
const (
	beginMark = "<!-- bench: begin -->\n"
	endMark   = "<!-- bench: end -->\n"
)

// writeReport puts the tables of results between the marks of a document, and the plot beside it.
func writeReport(path string, results []result) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	plot := strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"
	tables := reportOf(results, time.Now())
	if drawn, err := writePlot(plot, results); err != nil {
		return err
	} else if drawn {
		tables += fmt.Sprintf("\n![growth with the size of the store](%s)\n", filepath.Base(plot))
	}
	document, err := replaceTables(string(text), tables)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(document), 0o644) //nolint:gosec // a document of the repository
}

// replaceTables puts new tables between the marks of a document.
func replaceTables(document, tables string) (string, error) {
	before, rest, begun := strings.Cut(document, beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", errors.New("the marks are not there")
	}
	return before + beginMark + tables + endMark + after, nil
}

// reportOf has a table for each mode, with a line for each store, and one of how the durations grow.
func reportOf(results []result, on time.Time) string {
	var out strings.Builder
	if len(results) > 0 {
		fmt.Fprintf(&out, "Measured on %s, %s/%s, %d cores, %s. Durations are medians, ratios those of medians. A number that misses its\n"+
			"target is bold; targets are for stores of %d sessions or more.\n",
			on.UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, results[0].CPUs, runtime.Version(), targetFrom)
	}
	for _, m := range everyMode() {
		var of []result
		for _, r := range results {
			if r.Mode == m.name {
				of = append(of, r)
			}
		}
		if len(of) > 0 {
			fmt.Fprintf(&out, "\n`%s`: %s\n\n%s", m.name, m.about, tableOf(of))
		}
	}
	if header, rows := grownTable(results); len(rows) > 0 {
		fmt.Fprintf(&out, "\nHow the medians grow with the size of the store:\n\n%s", markdown(header, rows))
	}
	return out.String()
}

func tableOf(results []result) string {
	header := []string{"", "sessions"}
	for _, s := range results[0].Series {
		header = append(header, s.Name)
	}
	for _, f := range results[0].Figures {
		header = append(header, strings.TrimSpace(f.Name+" "+targetOfAll(results, f.Name)))
	}
	var rows [][]string
	var notes []string
	for _, r := range results {
		row := []string{r.Schema, ""}
		if r.Sessions > 0 {
			row[1] = fmt.Sprint(r.Sessions)
		}
		for _, s := range r.Series {
			row = append(row, milliseconds(median(s.Took)))
		}
		for _, f := range r.Figures {
			row = append(row, cellOf(r, f, targetOfAll(results, f.Name) == ""))
		}
		rows = append(rows, row)
		for _, note := range r.Notes {
			notes = append(notes, fmt.Sprintf("- %s: %s\n", strings.TrimPrefix(r.label(), r.Mode+", "), note))
		}
	}
	text := markdown(header, rows)
	if len(notes) > 0 {
		text += "\n" + strings.Join(notes, "")
	}
	return text
}

// targetOfAll is the target of a figure, where it is the same in all results.
func targetOfAll(results []result, name string) string {
	var targets []string
	for _, r := range results {
		for _, f := range r.Figures {
			if f.Name == name {
				targets = append(targets, f.target())
			}
		}
	}
	if targets = slices.Compact(targets); len(targets) == 1 {
		return targets[0]
	}
	return ""
}

func cellOf(r result, f figure, withTarget bool) string {
	cell := number(f.Value) + f.Unit
	if r.judged() && f.missed() {
		cell = "**" + cell + "**"
	}
	if target := f.target(); withTarget && target != "" {
		cell += " (" + target + ")"
	}
	return cell
}

func markdown(header []string, rows [][]string) string {
	return filledTable(header, rows).RenderMarkdown() + "\n"
}

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
)

// growth is how the median of one series grows from one size of the store to the next.
type growth struct {
	mode, schema, series string
	from, to             int
	times                float64
}

// growths compares the sizes that are there of each mode, smallest first.
func growths(results []result) (found []growth) {
	for i, larger := range results {
		var smaller *result
		for j := range results {
			r := &results[j]
			if j != i && r.Mode == larger.Mode && r.Schema == larger.Schema && r.Sessions < larger.Sessions &&
				(smaller == nil || r.Sessions > smaller.Sessions) {
				smaller = r
			}
		}
		if smaller == nil {
			continue
		}
		for _, s := range larger.Series {
			if before := smaller.took(s.Name); before != nil {
				found = append(found, growth{
					larger.Mode, larger.Schema, s.Name, smaller.Sessions, larger.Sessions,
					median(s.Took).Seconds() / median(before).Seconds(),
				})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b growth) int { return a.to - b.to })
	return found
}

// grownTable has a row for each series and a column for each step from one size to the next.
func grownTable(results []result) (header []string, rows [][]string) {
	found := growths(results)
	header = []string{"", "", ""}
	columns, lines := map[string]int{}, map[string]int{}
	for _, g := range found {
		step := fmt.Sprintf("%d → %d", g.from, g.to)
		if _, known := columns[step]; !known {
			columns[step] = len(header)
			header = append(header, step)
		}
	}
	for _, r := range results { // in the order in which they were measured
		for _, s := range r.Series {
			for _, g := range found {
				if g.mode != r.Mode || g.schema != r.Schema || g.series != s.Name {
					continue
				}
				key := g.mode + "/" + g.schema + "/" + g.series
				line, known := lines[key]
				if !known {
					line = len(rows)
					lines[key] = line
					rows = append(rows, append([]string{g.mode, g.schema, g.series}, make([]string, len(header)-3)...))
				}
				rows[line][columns[fmt.Sprintf("%d → %d", g.from, g.to)]] = "× " + number(g.times)
			}
		}
	}
	return header, rows
}

func writeGrowth(out io.Writer, results []result) error {
	header, rows := grownTable(results)
	if len(rows) == 0 {
		return nil
	}
	header[0] = "growth of the medians"
	_, err := fmt.Fprintln(out, filledTable(header, rows).Render())
	return err
}

func filledTable(header []string, rows [][]string) table.Writer {
	w := plainTable(0)
	w.AppendHeader(toRow(header))
	for _, row := range rows {
		w.AppendRow(toRow(row))
	}
	return w
}

func toRow(cells []string) (row table.Row) {
	for _, cell := range cells {
		row = append(row, cell)
	}
	return row
}

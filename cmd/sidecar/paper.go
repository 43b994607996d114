package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// paper is where a command prints: tables on a terminal, plain lines in a pipe, colour only where it is wanted. The first failure to
// write is kept, and nothing is written after it: whoever has printed asks for it once.
type paper struct {
	out      io.Writer
	terminal bool
	width    int
	colour   bool
	err      error
}

const widthOfAPipe = 0 // no limit

func newPaper(out io.Writer) *paper {
	p := &paper{out: out, width: widthOfAPipe}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.terminal = true
		p.width = 80
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			p.width = width
		}
		_, refused := os.LookupEnv("NO_COLOR")
		p.colour = !refused
	}
	return p
}

// say prints one line. What it is told from outside cannot break the line or drive the terminal.
func (p *paper) say(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = plainText(text)
		}
	}
	p.raw(fmt.Sprintf(format, args...))
}

// raw prints a line of JSON, or a table, as it is.
func (p *paper) raw(line string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, line)
	}
}

// json prints a value as one line.
func (p *paper) json(value any) {
	if p.err == nil {
		encoder := json.NewEncoder(p.out)
		encoder.SetEscapeHTML(false)
		p.err = encoder.Encode(value)
	}
}

// columns prints rows: a table with a head on a terminal, else one line a row, its cells separated by tabs. The last column
// is the one that is cut where the terminal is narrow.
func (p *paper) columns(head []string, rows [][]string) {
	if !p.terminal {
		for _, row := range rows {
			p.raw(strings.Join(plainCells(row), "\t"))
		}
		return
	}
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Options = table.OptionsNoBordersAndSeparators
	w.Style().Format.Header = text.FormatDefault
	if p.colour {
		w.Style().Color.Header = text.Colors{text.Bold}
	}
	if strings.Join(head, "") != "" {
		w.AppendHeader(cells(head))
	}
	for i, row := range rows {
		rows[i] = plainCells(row)
		w.AppendRow(cells(rows[i]))
	}
	last := len(head)
	enforcer := snip
	if strings.Join(head, "") == "" {
		enforcer = text.WrapSoft // facts, not titles: nothing of them may be lost
	}
	w.SetColumnConfigs([]table.ColumnConfig{{
		Number: last, WidthMax: p.roomForLast(append(rows, head)), WidthMaxEnforcer: enforcer,
	}})
	p.raw(w.Render())
}

// snip cuts a text to a width and says so.
func snip(cell string, width int) string { return text.Snip(cell, width, "…") }

// roomForLast is how wide the last column may be beside the others, each of which has a space on both sides.
func (p *paper) roomForLast(rows [][]string) int {
	widest := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widest[i] = max(widest[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	room := p.width - 2
	for _, width := range widest[:len(widest)-1] {
		room -= width + 2
	}
	const atLeast = 10
	return max(room, atLeast)
}

func cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, t := range texts {
		row[i] = t
	}
	return row
}

// plainCells takes out what would break a line, or drive a terminal: a title is anybody's text.
func plainCells(row []string) []string {
	plain := make([]string, len(row))
	for i, cell := range row {
		plain[i] = plainText(cell)
	}
	return plain
}

package demo

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

const (
	pageWidth = 80 // in cells of a terminal; a CJK character or an emoji takes two
	margin    = "  "
)

// style is how a terminal shows a piece of text: the code between its escape and its m.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

// page is what the demo shows: lines of at most pageWidth cells, in colour only where a person sees them. The first
// failure to write is kept, so that the show can end there.
type page struct {
	out    io.Writer
	colour bool
	err    error
}

func newPage(out io.Writer) *page { return &page{out: out, colour: wantsColour(out)} }

// wantsColour tells whether out is a terminal that a person reads in colour. Consoles of Windows do not all know the
// codes.
func wantsColour(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && runtime.GOOS != "windows" &&
		os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// line writes one line, cut where it would grow too wide.
func (p *page) line(spans ...span) {
	var text strings.Builder
	left := pageWidth
	for _, s := range spans {
		piece := cut(s.text, left)
		cutOff := piece != s.text
		left -= cells(piece)
		if p.colour && s.style != plain && piece != "" {
			piece = "\x1b[" + string(s.style) + "m" + piece + "\x1b[0m"
		}
		text.WriteString(piece)
		if cutOff {
			break
		}
	}
	if p.err == nil {
		_, p.err = io.WriteString(p.out, strings.TrimRight(text.String(), " ")+"\n")
	}
}

func (p *page) blank() { p.line() }

// heading opens a section with a rule over the whole width.
func (p *page) heading(text string) {
	p.blank()
	rule := strings.Repeat("─", max(0, pageWidth-cells("── "+text+" ")))
	p.line(span{"── ", dim}, span{text + " ", bold}, span{rule, dim})
	p.blank()
}

// say writes prose, wrapped.
func (p *page) say(format string, args ...any) {
	for _, line := range wrap(strings.Fields(fmt.Sprintf(format, args...)), " ", pageWidth) {
		p.line(span{line, plain})
	}
}

// check writes a sentence about something that the demo has made sure of.
func (p *page) check(format string, args ...any) {
	mark := "✓ "
	for _, line := range wrap(strings.Fields(fmt.Sprintf(format, args...)), " ", pageWidth-len(margin)-cells(mark)) {
		p.line(span{margin, plain}, span{mark, green}, span{line, plain})
		mark = "  "
	}
}

// frame writes one line of the wire, broken after commas and spaces so that it can be read.
func (p *page) frame(mark string, markStyle style, json string) {
	mark += " "
	var pieces []string
	for _, piece := range strings.SplitAfter(json, ",") {
		pieces = append(pieces, strings.SplitAfter(piece, " ")...)
	}
	for _, line := range wrap(pieces, "", pageWidth-len(margin)-len(mark)) {
		p.line(span{margin, plain}, span{mark, markStyle}, span{line, plain})
		mark = strings.Repeat(" ", len(mark))
	}
}

// wrap fills lines of at most width cells with pieces. A piece that is wider than a line is broken anywhere.
func wrap(pieces []string, between string, width int) []string {
	var lines []string
	line := ""
	for _, piece := range pieces {
		if line != "" && cells(line+between+piece) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += between
		}
		line += piece
		for cells(line) > width {
			head := prefix(line, width)
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	return append(lines, line)
}

// cells is the width of a text on a terminal.
func cells(text string) int { return uniseg.StringWidth(text) }

// padded fills a text up to width cells.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-cells(text)))
}

// cut shortens a text to width cells and marks where it did.
func cut(text string, width int) string {
	if cells(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	return prefix(text, width-1) + "…"
}

// prefix is as much of a text as fits into width cells, never half a character as a person sees one.
func prefix(text string, width int) string {
	end, used := 0, 0
	for graphemes := uniseg.NewGraphemes(text); graphemes.Next(); {
		used += graphemes.Width()
		if used > width {
			break
		}
		_, end = graphemes.Positions()
	}
	return text[:end]
}

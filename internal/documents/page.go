// Package documents finds in the repository's documents what can be wrong without anybody noticing: commands that nobody runs, commands,
// flags, files, tests and headings that are not there. Only tests import it.
package documents

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is a document as it is read.
type Page struct {
	Path   string // in the repository, with slashes
	Blocks []Block
	Spans  []Span // of code within a text
	Links  []Span // where links and pictures lead
	// Anchors are the places in the page that a link can lead to.
	Anchors map[string]bool
}

// Block is a fenced block.
type Block struct {
	Line     int
	Language string
	Mark     Mark
	Text     string
}

// Span is a piece of a text, on one line.
type Span struct {
	Line int
	Text string
}

// Mark is the comment before a block that says who runs its commands.
type Mark struct{ Kind, What string }

// The kinds of marks.
const (
	MarkLook   = "look"    // the test of the README's looks records it
	MarkRun    = "run"     // the test of the documents runs it, by this name
	MarkRunBy  = "run by"  // CI runs these very commands
	MarkNotRun = "not run" // nobody does, for this reason
)

var (
	markComment = regexp.MustCompile(`(?s)^<!-- (look|run|run by|not run): (.+?) -->\s*$`)
	namedAnchor = regexp.MustCompile(`<a (?:name|id)="([^"]+)">`)
)

// Read takes a document apart.
func Read(path, source string) *Page {
	page := &Page{Path: path, Anchors: map[string]bool{}}
	for _, m := range namedAnchor.FindAllStringSubmatch(source, -1) {
		page.Anchors[m[1]] = true
	}
	line := func(at int) int { return 1 + strings.Count(source[:at], "\n") }
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader([]byte(source)))
	var at int // where the walk is, for what has no place of its own
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			at = n.Lines().At(0).Start
		}
		switch n := n.(type) {
		case *ast.Heading:
			page.addAnchor(textOf(n, source))
		case *ast.FencedCodeBlock:
			page.Blocks = append(page.Blocks, Block{
				Line: line(at), Language: string(n.Language([]byte(source))), Mark: markBefore(n, source), Text: string(n.Lines().Value([]byte(source))),
			})
		case *ast.CodeSpan:
			if child, ok := n.FirstChild().(*ast.Text); ok {
				at = child.Segment.Start
			}
			page.Spans = append(page.Spans, Span{line(at), strings.Join(strings.Fields(textOf(n, source)), " ")})
		case *ast.Link:
			page.Links = append(page.Links, Span{line(at), string(n.Destination)})
		case *ast.Image:
			page.Links = append(page.Links, Span{line(at), string(n.Destination)})
		case *ast.Text:
			at = n.Segment.Start
		}
		return ast.WalkContinue, nil
	})
	return page
}

// markBefore reads the comment right before a block.
func markBefore(n ast.Node, source string) Mark {
	comment, ok := n.PreviousSibling().(*ast.HTMLBlock)
	if !ok {
		return Mark{}
	}
	whole := string(comment.Lines().Value([]byte(source)))
	if comment.HasClosure() {
		whole += string(comment.ClosureLine.Value([]byte(source)))
	}
	// Where comments follow each other, the last one counts.
	if i := strings.LastIndex(whole, "<!--"); i >= 0 {
		whole = whole[i:]
	}
	if m := markComment.FindStringSubmatch(whole); m != nil {
		return Mark{m[1], m[2]}
	}
	return Mark{}
}

func textOf(n ast.Node, source string) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value([]byte(source)))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// addAnchor makes of a heading what GitHub makes of it.
func (p *Page) addAnchor(heading string) {
	anchor := strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
	for n, first := 1, anchor; p.Anchors[anchor]; n++ {
		anchor = fmt.Sprint(first, "-", n)
	}
	p.Anchors[anchor] = true
}

// prompt begins a command in a block that shows what it prints too.
const prompt = "$ "

// Step is a command of a block, and what the block shows of its output.
type Step struct{ Command, Output string }

// HasCommands tells whether a block is one of a shell.
func (b Block) HasCommands() bool {
	switch b.Language {
	case "console", "sh", "bash", "shell":
		return true
	}
	return strings.HasPrefix(b.Text, prompt) || strings.Contains(b.Text, "\n"+prompt)
}

// IsSession tells whether a block shows a talk with the sidecar: lines that go in after "-> ", lines that come out after "<- ".
func (b Block) IsSession() bool { return strings.HasPrefix(b.Text, "-> ") }

// Steps gives the commands of a block of a shell. In one without prompts every line is a command.
func (b Block) Steps() []Step {
	var steps []Step
	prompts := strings.Contains("\n"+b.Text, "\n"+prompt)
	for line := range strings.Lines(b.Text) {
		command, begins := strings.CutPrefix(line, prompt)
		last := len(steps) - 1
		switch {
		case last >= 0 && steps[last].Output == "" && strings.HasSuffix(steps[last].Command, "\\"):
			steps[last].Command += "\n" + strings.TrimRight(line, "\n")
		case begins || !prompts && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#"):
			steps = append(steps, Step{Command: strings.TrimRight(withoutComment(command), " \n")})
		case prompts && last >= 0:
			steps[last].Output += line
		}
	}
	return steps
}

// withoutComment leaves out what stands behind a command for the reader.
func withoutComment(line string) string {
	command, _, _ := strings.Cut(line, " # ")
	return command
}

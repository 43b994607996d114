package documents

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// CheckReferences finds links, files and tests in a document that are not there. pages are all documents.
func (r *Repository) CheckReferences(page *Page, pages map[string]*Page) (wrong []string) {
	complain := func(line int, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s:%d: ", page.Path, line)+fmt.Sprintf(format, args...))
	}
	for _, link := range page.Links {
		if strings.Contains(link.Text, ":") {
			continue // to another place than this repository
		}
		target, anchor, _ := strings.Cut(link.Text, "#")
		file := page.Path
		if target != "" {
			file = path.Join(path.Dir(page.Path), target)
		}
		switch to := pages[file]; {
		case !r.has(file):
			complain(link.Line, "the link %s leads to no file", link.Text)
		case anchor != "" && to != nil && !to.Anchors[anchor]:
			complain(link.Line, "the link %s leads to no heading", link.Text)
		}
	}
	for _, span := range page.Spans {
		switch {
		case r.isFine(span.Text):
		case variable.MatchString(span.Text):
			if !r.isRead(variable.FindStringSubmatch(span.Text)[1]) {
				complain(span.Line, "nothing reads %s", span.Text)
			}
		case testName.MatchString(span.Text):
			if !r.hasTest(".", matchesTest(span.Text)) {
				complain(span.Line, "there is no test %s", span.Text)
			}
		case r.isFile(span.Text):
			if !r.has(span.Text) && !r.has(path.Join(path.Dir(page.Path), span.Text)) && !r.hasSomewhere(span.Text) {
				complain(span.Line, "there is no file %s", span.Text)
			}
		}
	}
	return wrong
}

var (
	variable   = regexp.MustCompile(`^(SIDECAR[A-Z_]*)(?:=.*)?$`)
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*…?$`)
	fileName   = regexp.MustCompile(`^[\w.*-]+(?:/[\w.*-]+)*/?$`)
	sourceFile = regexp.MustCompile(`\.(?:c|css|go|html|mjs|md|mod|py|sum|svg|toml|ts|tsv|tsx|txtar|yml)$`)
)

// matchesTest compares a name with that in a document, which may leave its end out.
func matchesTest(named string) func(string) bool {
	begin, cut := strings.CutSuffix(named, "…")
	return func(name string) bool { return name == named || cut && strings.HasPrefix(name, begin) }
}

// isFile tells whether a span names something in the repository: it is below a folder of it, or its name ends as sources do.
func (r *Repository) isFile(span string) bool {
	if !fileName.MatchString(span) {
		return false
	}
	first, _, inFolder := strings.Cut(span, "/")
	return sourceFile.MatchString(span) || inFolder && r.has(first+"/") && r.Files[first] == ""
}

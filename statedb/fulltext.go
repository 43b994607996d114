package statedb

import (
	"strings"

	"session-sidecar/internal/lazyregexp"
)

// This file reads what the CREATE statement of a full-text index says of it.

var (
	fullTextModule = lazyregexp.New("(?is)\\busing\\s+[\"'`\\[]?fts([345])[\"'`\\]]?\\s*\\(")
	tokenizeOption = lazyregexp.New(`(?is)\btokenize\s*=\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|[^\s,)]+)`)
	contentOption  = lazyregexp.New(`(?is)\bcontent\s*=\s*('[^']+'|"[^"]+"|[^\s,)'"]+)`)
	rowidOption    = lazyregexp.New(`(?is)\bcontent_rowid\s*=\s*('[^']+'|"[^"]+"|[^\s,)'"]+)`)
)

// tokenizerOf reads the tokenizer out of a full-text index's CREATE statement; without the option it is the module's own.
func tokenizerOf(create string) (tokenizer string, ok bool) {
	module := fullTextModule().FindStringSubmatch(create)
	if module == nil {
		return "", false
	}
	option := tokenizeOption().FindStringSubmatch(create)
	switch {
	case option == nil && module[1] == "5":
		return "unicode61", true
	case option == nil:
		return "simple", true
	}
	text := option[1]
	if quote := text[:1]; quote == "'" || quote == `"` {
		text = strings.ReplaceAll(text[1:len(text)-1], quote+quote, quote)
	}
	return strings.TrimSpace(text), true
}

// content is what an index keeps no text of its own for: a table or view, and its column of row ids.
type content struct{ table, rowid string }

func externalContent(create string) (content, bool) {
	table := contentOption().FindStringSubmatch(create)
	if table == nil {
		return content{}, false
	}
	of := content{strings.Trim(table[1], `'"`), "rowid"}
	if rowid := rowidOption().FindStringSubmatch(create); rowid != nil {
		of.rowid = strings.Trim(rowid[1], `'"`)
	}
	return of, true
}

package statedb

import (
	"slices"
	"strings"

	"session-sidecar/internal/lazyregexp"
)

// This file decides which stores can be surveyed: those that change the surveyed tables only as they are told.

var (
	withoutRowid = lazyregexp.New(`(?i)\bwithout\s+rowid\b`)
	triggerBody  = lazyregexp.New(`(?is)\bbegin\b.*`)
	// Nothing at all need stand before a name in quotes.
	writesSurveyed = lazyregexp.New(`(?i)\b(into|delete\s+from|update(\s+or\s+\w+)?)\s*(["'\[` + "`" + `]?\w+["'\]` + "`" + `]?\s*\.\s*)?` +
		`["'\[` + "`" + `]?(sessions|state_meta|gateway_routing|system_prompts)\b`)
	changesByReference = lazyregexp.New(`(?i)\bon\s+delete\s+(cascade|set\s+default)\b`)
)

// hasRowid tells whether the rows of a table have numbers, and these their usual name.
func (s *schema) hasRowid(table string) bool {
	return !s.has(table, "rowid") && !withoutRowid().MatchString(s.create[table])
}

// canBeSurveyed tells whether nothing in a store changes the surveyed tables behind the back of whoever changes others, nor takes more
// of their rows than a delete names.
func (s *schema) canBeSurveyed() bool {
	if s.surveyable == nil {
		can := s.changesNothingUnseen()
		s.surveyable = &can
	}
	return *s.surveyable
}

func (s *schema) changesNothingUnseen() bool {
	for _, at := range places {
		if changesByReference().MatchString(withoutComments(s.create[at.table])) {
			return false
		}
	}
	return !slices.ContainsFunc(s.triggers, func(t trigger) bool {
		return writesSurveyed().MatchString(triggerBody().FindString(withoutComments(t.sql)))
	})
}

// withoutComments puts a space in the place of each comment of SQL.
func withoutComments(sql string) string {
	var out strings.Builder
	for len(sql) > 0 {
		end, comment := 1, false
		switch {
		case strings.HasPrefix(sql, "--"):
			end, comment = through(sql, "\n", 2), true
		case strings.HasPrefix(sql, "/*"):
			end, comment = through(sql, "*/", 2), true
		case sql[0] == '[':
			end = through(sql, "]", 1)
		case strings.ContainsRune("'\"`", rune(sql[0])): // one that is doubled inside ends one text and begins the next
			end = through(sql, sql[:1], 1)
		}
		if comment {
			out.WriteByte(' ')
		} else {
			out.WriteString(sql[:end])
		}
		sql = sql[end:]
	}
	return out.String()
}

// through is where the first closing of a text ends, behind its opening, or the whole length.
func through(text, closing string, opening int) int {
	if at := strings.Index(text[opening:], closing); at >= 0 {
		return opening + at + len(closing)
	}
	return len(text)
}

package statedb

import (
	"regexp"
	"slices"
	"strings"
)

// NewestSchema is the newest schema_version that we know (contract 3).
const NewestSchema = 31

// schema is the shape of the store at this moment: its tables and their columns, names folded to lower case as SQLite
// compares them.
type schema struct {
	columns  map[string]map[string]bool
	numeric  map[string]map[string]bool // those columns that make a number of a text that reads as one
	triggers []trigger
	virtual  map[string]string // virtual table -> its CREATE statement
	create   map[string]string // every other table -> its own

	chosen  map[Agent]choice // what choosePath has said
	written map[string]bool  // what writtenByTrigger has said

	surveyable *bool // what canBeSurveyed has said
}

type trigger struct{ name, table, sql string }

// hasTriggerOn tells whether a table may do something else than it is told.
func (s *schema) hasTriggerOn(table string) bool {
	return slices.ContainsFunc(s.triggers, func(t trigger) bool { return t.table == table })
}

func (s *schema) has(table string, columns ...string) bool {
	have, ok := s.columns[table]
	return ok && !slices.ContainsFunc(columns, func(c string) bool { return !have[c] })
}

// isLoose tells whether a column is declared with a collation other than BINARY. A constraint of the table that names the
// column with one counts too: what is two elsewhere is one there.
func (s *schema) isLoose(table, column string) bool {
	declared := regexp.MustCompile(`(?i)\b` + column + `\b["\]` + "`" + `]?\s[^,]*\bcollate\s+["'\[` + "`" + `]?(\w+)`)
	return slices.ContainsFunc(declared.FindAllStringSubmatch(s.create[table], -1), func(m []string) bool {
		return !strings.EqualFold(m[1], "binary")
	})
}

// hasNumericAffinity is SQLite's rule for a column's declared type.
func hasNumericAffinity(declared string) bool {
	if declared == "" {
		return false
	}
	declared = strings.ToUpper(declared)
	names := func(kind string) bool { return strings.Contains(declared, kind) }
	return names("INT") || !slices.ContainsFunc([]string{"CHAR", "CLOB", "TEXT", "BLOB"}, names)
}

func isVirtual(createStatement string) bool {
	words := strings.Fields(strings.ToUpper(createStatement))
	return len(words) > 1 && words[0] == "CREATE" && words[1] == "VIRTUAL"
}

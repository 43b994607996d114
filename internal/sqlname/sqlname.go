// Package sqlname compares the names of tables and columns as SQLite does.
package sqlname

import "strings"

// Fold spells a name so that two of them are equal where SQLite takes them for one: it folds the letters of ASCII alone. É and é are
// two columns to it, and so are s and ſ.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, name)
}

// Same tells whether SQLite takes two names for one.
func Same(a, b string) bool { return Fold(a) == Fold(b) }

// Find is the value of a column: under the very name where there is one, else under one that is the same to SQLite. It tells the name
// too.
func Find[V any](cells map[string]V, column string) (name string, value V, found bool) {
	if value, found = cells[column]; found {
		return column, value, true
	}
	for name, value := range cells {
		if Same(name, column) {
			return name, value, true
		}
	}
	return "", value, false
}

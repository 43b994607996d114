// Package operationid names deletes. Under this name a delete's receipt, its entry in the trash, and what it leaves to be done after its
// commit are found (contract 4, 5b.5, 8, 10).
package operationid

import "session-sidecar/internal/randomhex"

// Pattern is the whole of an operation id.
const Pattern = "^[0-9a-f]{32}$"

// digits are how many hex digits Pattern has.
const digits = 32

// New names one delete, as no other is named.
func New() string { return randomhex.New(digits / 2) }

// Is tells whether a text has the form of an operation id.
func Is(text string) bool {
	if len(text) != digits {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Package randomhex makes names that nobody can guess and that no other call has made.
package randomhex

import (
	"crypto/rand"
	"encoding/hex"
)

// New gives so many random bytes as lower-case hex digits, two for each.
func New(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b)
}

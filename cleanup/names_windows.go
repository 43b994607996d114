package cleanup

import (
	"path/filepath"
	"strings"
)

// canBeFileName refuses an id that Windows reads as a stream (a:b) or as a device (NUL, COM1): it has no artifacts.
func canBeFileName(id string) bool {
	return !strings.Contains(id, ":") && filepath.IsLocal(id+jsonSuffix) && filepath.IsLocal(id)
}

// sameFileName compares as this system's file systems do.
func sameFileName(a, b string) bool { return strings.EqualFold(a, b) }

// canBeSpilled refuses a name that Windows reads as a stream or as a device, and one whose end it may leave out: "a." is "a" to it.
func canBeSpilled(name string) bool {
	return !strings.Contains(name, ":") && filepath.IsLocal(name) && strings.TrimRight(name, ". ") == name
}

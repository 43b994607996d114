//go:build faultpoints

package faultpoint

import (
	"os"
	"path/filepath"
)

// SIDECAR_FAULT_ALONE=<folder> shows whether two deletes of one home ever overlap, in one process or in several that
// share the folder: whoever holds the home's locks owns the file "alone" there, and one who finds it taken leaves the
// file "overlap".
const aloneVariable = "SIDECAR_FAULT_ALONE"

func watchOverlap(p Point) {
	dir := os.Getenv(aloneVariable)
	if dir == "" {
		return
	}
	alone := filepath.Join(dir, "alone")
	switch p {
	case LockHeld:
		file, err := os.OpenFile(alone, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			_ = os.WriteFile(filepath.Join(dir, "overlap"), nil, 0o600)
			return
		}
		_ = file.Close()
	case BeforeLocksAreReleased:
		_ = os.Remove(alone)
	}
}

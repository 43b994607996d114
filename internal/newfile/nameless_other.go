//go:build !linux

package newfile

import (
	"errors"
	"os"
)

// createNameless is nil where the system has no files without a name.
func createNameless(string, string) *File { return nil }

func linkNameless(*os.File, string) error { return errors.ErrUnsupported }

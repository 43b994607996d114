//go:build unix && !linux

package rpc

import (
	"errors"
	"os"
)

// openAgain fails: here a pipe cannot be opened a second time.
func openAgain(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }

//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// claimStdout keeps a private duplicate of file descriptor 1 for frames and points 1 at standard error, so that nothing
// that a library prints can corrupt the channel (contract 1.1).
func claimStdout() (*os.File, error) {
	private, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := pointAt(2, 1); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(private), "frames"), nil
}

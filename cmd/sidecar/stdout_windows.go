package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// claimStdout keeps a private duplicate of the standard output's handle for frames and points the standard output at
// standard error, so that nothing that a library prints can corrupt the channel (contract 1.1).
func claimStdout() (*os.File, error) {
	self := windows.CurrentProcess()
	var private windows.Handle
	err := windows.DuplicateHandle(self, windows.Handle(os.Stdout.Fd()), self, &private, 0, false,
		windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return nil, err
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, err
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(private), "frames"), nil
}

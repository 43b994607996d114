package main

import (
	"context"
	"os"

	"golang.org/x/sys/windows"
)

// parentPollMilliseconds is how often the wait for our parent looks whether it is still wanted.
const parentPollMilliseconds = 500

// whenParentEnds calls then once the process that started us has ended (contract 1.8). Windows keeps a parent's id after
// its end, so we wait for the process itself.
func whenParentEnds(ctx context.Context, then func()) {
	parent, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(os.Getppid()))
	if err != nil {
		return // it may not be watched; the end of standard input still tells
	}
	defer func() { _ = windows.CloseHandle(parent) }()
	for ctx.Err() == nil {
		event, err := windows.WaitForSingleObject(parent, parentPollMilliseconds)
		if err != nil {
			return
		}
		if event == windows.WAIT_OBJECT_0 {
			then()
			return
		}
	}
}

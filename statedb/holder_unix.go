//go:build unix

package statedb

import (
	"errors"
	"syscall"
)

// processState asks whether there is a process of this number. Not being allowed to signal it means that it lives.
func processState(pid int) HolderState {
	err := syscall.Kill(pid, 0)
	switch {
	case err == nil, errors.Is(err, syscall.EPERM):
		return HolderAlive
	case errors.Is(err, syscall.ESRCH):
		return HolderGone
	}
	return HolderUnknown
}

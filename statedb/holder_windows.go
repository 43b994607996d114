package statedb

import (
	"errors"

	"golang.org/x/sys/windows"
)

// inOurNamespace holds for every holder: the system has one set of process ids.
func inOurNamespace(string) bool { return true }

// processState asks whether there is a process of this number. Not being allowed to open it means that it lives.
func processState(pid int) HolderState {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	switch {
	case errors.Is(err, windows.ERROR_INVALID_PARAMETER): // Windows' word for "no such process"
		return HolderGone
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return HolderAlive
	case err != nil:
		return HolderUnknown
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var code uint32
	const stillActive = 259
	switch err := windows.GetExitCodeProcess(process, &code); {
	case err != nil:
		return HolderUnknown
	case code == stillActive:
		return HolderAlive
	}
	return HolderGone
}

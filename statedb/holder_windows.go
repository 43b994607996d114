package statedb

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// holderDead tells whether a guard's holder provably runs no more (contract 5c): it names a process that is not us and
// does not exist. Not being allowed to open it means that it lives.
func holderDead(holder string) bool {
	pid, _, ok := holderPID(holder)
	if !ok || pid == os.Getpid() {
		return false
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		// Windows' word for "no such process".
		return errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(process, &code) == nil && code != stillActive
}

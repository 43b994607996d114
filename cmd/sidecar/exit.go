package main

import (
	"errors"
	"fmt"
	"os"
)

// The exit statuses, beside those that the protocol gives (contract 2).
const (
	exitFailure   = 1 // an error answer, or the program could not do its work
	exitUsage     = 2 // the command line was wrong
	exitNotLooked = 2 // of the doctor: there is nothing to tell of a home, for it could not be looked at
	exitDeclined  = 3 // the user said no
)

// exitCode ends the process with a status and no further word.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError is a mistake in the command line.
type usageError struct{ error }

// failure is the exit status of a command that did its work but for a part that failed.
func failure(failed bool) error {
	if failed {
		return exitCode(exitFailure)
	}
	return nil
}

// exitStatus is that of the process for what it ended with, which it tells of where there is anything to tell.
func exitStatus(err error) int {
	if err == nil {
		return 0
	}
	if code, is := errors.AsType[exitCode](err); is {
		return int(code)
	}
	if _, is := errors.AsType[usageError](err); is {
		fmt.Fprintf(os.Stderr, "sidecar: %s; see 'sidecar --help'\n", plainText(err.Error()))
		return exitUsage
	}
	fmt.Fprintln(os.Stderr, "sidecar:", plainText(err.Error()))
	return exitFailure
}

package cleanup

import (
	"errors"
	"fmt"
)

var (
	// ErrUnusableFolder says that sessions/ is there and cannot be used: no folder, a link that leads out of the home,
	// or it cannot be read.
	ErrUnusableFolder = errors.New("the sessions folder cannot be used")
	// ErrManifest says that a manifest could not be written durably.
	ErrManifest = errors.New("the cleanup manifest could not be written")
)

// Error tells what was done to which name inside the home, and what went wrong. Unwrap gives the sentinel and the cause.
type Error struct {
	Kind  error // one of the sentinels above
	Name  string
	Cause error
}

func (e *Error) Error() string { return fmt.Sprintf("%v: %s: %v", e.Kind, e.Name, e.Cause) }

func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }

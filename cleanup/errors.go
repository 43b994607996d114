package cleanup

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrUnusableFolder says that sessions/ is there and cannot be used: no folder, a link that leads out of the home,
	// or it cannot be read.
	ErrUnusableFolder = errors.New("the sessions folder cannot be used")
	// ErrNotListed says that a folder with files that rows name could not be listed, for a reason that passes.
	ErrNotListed = errors.New("a folder of the home could not be listed")
	// ErrManifest says that a manifest could not be written durably.
	ErrManifest = errors.New("the cleanup manifest could not be written")
)

// passes tells whether an error says something of the machine and nothing of the file: too many are open, too little memory, a
// disk that fails.
func passes(err error) bool {
	for _, number := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO} {
		if errors.Is(err, number) {
			return true
		}
	}
	return false
}

// Error tells what was done to which name inside the home, and what went wrong. Unwrap gives the sentinel and the cause.
type Error struct {
	Kind  error // one of the sentinels above
	Name  string
	Cause error
}

func (e *Error) Error() string { return fmt.Sprintf("%v: %s: %v", e.Kind, e.Name, e.Cause) }

func (e *Error) Unwrap() []error { return []error{e.Kind, e.Cause} }

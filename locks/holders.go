package locks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// State is what can be told of a home's cleanup lock without taking it.
type State struct {
	There    bool  // there is such a file
	Unusable error // why it cannot serve as a lock: an *Error
	// Known tells whether this system says who holds a lock. Even then, whoever runs in a container of its own may not be seen.
	Known   bool
	Holders []Holder
}

// Holder is a process that holds a lock.
type Holder struct {
	PID  int
	Name string // of the program, where the system tells
}

// Look tells how a resolved home's cleanup lock is, from outside: to take it, be it for a moment, could be in the way of a delete.
func Look(home string) State {
	path := filepath.Join(home, FileName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}
	}
	if err == nil {
		err = checkPath(path)
	}
	if err != nil {
		return State{There: true, Unusable: &Error{Kind: ErrUnusable, Path: path, Cause: err}}
	}
	holders, known := holdersOf(path, info)
	return State{There: true, Known: known, Holders: holders}
}

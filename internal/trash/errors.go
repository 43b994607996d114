package trash

import (
	"errors"
	"io/fs"
)

// What can be wrong with the trash of a home.
var (
	// ErrUnusable: trash/ is no folder, leads out of the home, or cannot be read or written.
	ErrUnusable = errors.New("the trash of this home cannot be used")
	// ErrUnkeepable: one conversation has what no entry can hold. The trash is none the worse for it.
	ErrUnkeepable = errors.New("this conversation cannot be kept")
	// ErrNotFound: no entry of that operation is there.
	ErrNotFound = errors.New("there is no such entry in the trash")
	// ErrDamaged: the entry is not what was written, or of another format. It stays as it is (contract 10.5).
	ErrDamaged = errors.New("the entry in the trash is damaged")
)

// Error tells what is wrong with which entry. Unwrap gives the sentinel and the cause.
type Error struct {
	Kind  error  // one of the sentinels above
	Name  string // the entry, or the folder
	Cause error  // nil where the sentinel says it all
}

func (e *Error) Error() string {
	text := e.Kind.Error() + ": " + e.Name
	path, is := e.Cause.(*fs.PathError) //nolint:errorlint // only where there is nothing around it
	switch {
	case e.Cause == nil:
	case is && path.Path == e.Name:
		text += ": " + path.Err.Error() // the name is said already
	default:
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

func unusable(name string, cause error) error { return &Error{ErrUnusable, name, cause} }

func unkeepable(name string, cause error) error { return &Error{ErrUnkeepable, name, cause} }

func damaged(name string, cause error) error { return &Error{ErrDamaged, name, cause} }

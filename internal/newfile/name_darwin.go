package newfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// rename moves a file to a name that is free.
func rename(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) { // not every volume can
		return linkThenRemove(from, to)
	}
	return err
}

//go:build !windows

package newfile

import "os"

// linkThenRemove moves a file to a name that is free where no rename can promise that: a link never replaces.
func linkThenRemove(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

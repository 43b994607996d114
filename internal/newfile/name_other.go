//go:build !linux && !darwin && !windows

package newfile

// rename moves a file to a name that is free.
func rename(from, to string) error { return linkThenRemove(from, to) }

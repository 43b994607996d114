package newfile

import "golang.org/x/sys/windows"

// rename moves a file to a name that is free: without MOVEFILE_REPLACE_EXISTING nothing is replaced.
func rename(from, to string) error {
	fromText, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	toText, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(fromText, toText, windows.MOVEFILE_WRITE_THROUGH)
}

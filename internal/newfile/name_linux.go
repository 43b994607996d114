package newfile

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// createNameless begins a file that no folder lists, so that a crash leaves nothing. It is nil where the file system has
// no such files, or where none of them could get a name later.
func createNameless(folder, path string) *File {
	file, err := os.OpenFile(folder, os.O_WRONLY|unix.O_TMPFILE, 0o600)
	if err != nil {
		return nil
	}
	if _, err := os.Stat(descriptorPath(file)); err != nil { // no /proc
		_ = file.Close()
		return nil
	}
	return &File{file: file, path: path}
}

// linkNameless gives such a file its name. It fails if the name is taken, be it by a link that leads nowhere.
func linkNameless(file *os.File, path string) error {
	return unix.Linkat(unix.AT_FDCWD, descriptorPath(file), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
}

func descriptorPath(file *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(file.Fd())) }

// rename moves a file to a name that is free.
func rename(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // network file systems cannot
		return linkThenRemove(from, to)
	}
	return err
}

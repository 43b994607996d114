package rpc

import (
	"os"
	"strconv"
	"syscall"
)

// openAgain opens the pipe behind a file once more, so that its writes do not wait. It leaves the file as it is.
func openAgain(file *os.File) (again *os.File, err error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	closed := raw.Control(func(fd uintptr) {
		again, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(fd)), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	})
	if closed != nil {
		return nil, closed
	}
	return again, err
}

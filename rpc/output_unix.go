//go:build unix

package rpc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// TakeOutput makes a file the output of a server, which closes it from now on. Where the system can be asked to take what it has room
// for and no more, the output is Immediate: a socket can, and so can a pipe that we may open a second time, since whether a write to it
// waits is then for us alone to say. Whoever shares the first opening notices nothing.
func TakeOutput(file *os.File) io.WriteCloser {
	info, err := file.Stat()
	if err != nil {
		return file
	}
	switch {
	case info.Mode()&fs.ModeSocket != 0 && isStream(file):
		return promptOutput(file, func(fd int, line []byte) (int, error) {
			return unix.SendmsgN(fd, line, nil, nil, unix.MSG_DONTWAIT)
		})
	case info.Mode()&fs.ModeNamedPipe != 0:
		if again, err := openAgain(file); err == nil {
			_ = file.Close()
			return promptOutput(again, unix.Write)
		}
	}
	return file
}

func isStream(file *os.File) (is bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		kind, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE)
		is = err == nil && kind == unix.SOCK_STREAM
	})
	return is && err == nil
}

// prompt is an output whose write never waits.
type prompt struct {
	*os.File
	raw   syscall.RawConn
	write func(fd int, line []byte) (int, error)
}

func promptOutput(file *os.File, write func(fd int, line []byte) (int, error)) io.WriteCloser {
	raw, err := file.SyscallConn()
	if err != nil {
		return file
	}
	return &prompt{file, raw, write}
}

// WriteNow is Immediate's.
func (p *prompt) WriteNow(line []byte) (n int, err error) {
	closed := p.raw.Write(func(fd uintptr) bool {
		for {
			if n, err = p.write(int(fd), line); !errors.Is(err, unix.EINTR) {
				return true
			}
		}
	})
	switch {
	case closed != nil:
		return 0, closed
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	case err != nil:
		return 0, os.NewSyscallError("write", err)
	}
	return n, nil
}

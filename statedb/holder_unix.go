//go:build unix

package statedb

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// holderDead tells whether a guard's holder provably runs no more (contract 5c): it names a process that is not us and
// does not exist. On Linux a process id means something only in its own namespace, so the holder must name ours. Not
// being allowed to signal it means that it lives.
func holderDead(holder string) bool {
	pid, namespace, ok := holderPID(holder)
	if !ok || pid == os.Getpid() {
		return false
	}
	if runtime.GOOS == "linux" && (namespace == "" || namespace != ownPIDNamespace()) {
		return false
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// ownPIDNamespace is the inode of /proc/self/ns/pid, or nothing where it cannot be read.
func ownPIDNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	inode, ok := strings.CutPrefix(link, "pid:[")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(inode, "]")
}

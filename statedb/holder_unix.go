//go:build unix

package statedb

import (
	"errors"
	"os"
	"syscall"
)

// holderDead tells whether a guard's holder provably runs no more (contract 5c): it names a process that is not us and
// does not exist. Not being allowed to signal it means that it lives.
func holderDead(holder string) bool {
	pid, namespace, ok := holderPID(holder)
	if !ok || pid == os.Getpid() {
		return false
	}
	if !inOurNamespace(namespace) {
		return false
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

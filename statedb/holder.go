package statedb

import (
	"os"
	"strconv"
	"strings"
)

// This file decides whether the process that holds a guard still runs (contract 5c). What the system is asked is in holder_*.go.

// HolderState tells what is known of the process that holds a guard.
type HolderState string

// What can be known.
const (
	HolderAlive   HolderState = "alive"
	HolderGone    HolderState = "gone"
	HolderUnknown HolderState = "unknown" // it names no process, or one of another machine or container, or cannot be asked
)

// holderState tells what is known of a guard's holder (contract 5c).
func holderState(holder string) HolderState {
	pid, namespace, ok := holderPID(holder)
	if !ok || pid == os.Getpid() || !inOurNamespace(namespace) {
		return HolderUnknown
	}
	return processState(pid)
}

// holderDead tells whether a guard's holder provably runs no more: it names a process that is not us and does not exist.
func holderDead(holder string) bool { return holderState(holder) == HolderGone }

// holderPID reads the pid=<n> token of a holder, and its pidns=<inode> token where it has one. Tokens stand between
// colons or at an end. A holder with no pid, or with two, names no process.
func holderPID(holder string) (pid int, namespace string, ok bool) {
	for token := range strings.SplitSeq(holder, ":") {
		if text, found := strings.CutPrefix(token, "pid="); found {
			n, err := strconv.ParseUint(text, 10, 31) // no sign
			if err != nil || n == 0 || ok {
				return 0, "", false
			}
			pid, ok = int(n), true
		}
		if text, found := strings.CutPrefix(token, "pidns="); found {
			namespace = text
		}
	}
	return pid, namespace, ok
}

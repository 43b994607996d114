package statedb

import (
	"os"
	"strings"
)

// inOurNamespace tells whether a holder named our PID namespace: a process id means something only in its own.
func inOurNamespace(namespace string) bool {
	return namespace != "" && namespace == ownPIDNamespace()
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

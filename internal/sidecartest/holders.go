package sidecartest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Holders are two that a guard may name: a process that lives as long as the test, and one that has ended. It fails where the system
// has no namespaces of process ids.
func Holders() (live, dead string, err error) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		return "", "", err
	}
	if live, err = processName(os.Getpid()); err != nil {
		return "", "", err
	}
	dead, err = processName(ended.Process.Pid)
	return live, dead, err
}

// processName is what an Agent calls a process of this machine in the guards that it holds.
func processName(pid int) (string, error) {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	namespace := strings.TrimSuffix(strings.TrimPrefix(link, "pid:["), "]")
	return fmt.Sprintf("pid=%d:pidns=%s", pid, namespace), nil
}

//go:build unix

package sidecartest

import (
	"os/exec"
	"syscall"
)

// User runs the process as another user; only root may.
func User(id int) Option {
	return func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	}
}

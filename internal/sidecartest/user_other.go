//go:build !unix

package sidecartest

import "os/exec"

// User does nothing where there are no user ids.
func User(int) Option { return func(*exec.Cmd) {} }

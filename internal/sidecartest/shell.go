package sidecartest

import "os/exec"

// Shell starts the process from a line of shell, in which $0 is the program: for the limits that a shell can set.
func Shell(line string) Option {
	return func(c *exec.Cmd) {
		c.Args = []string{"/bin/sh", "-c", line, c.Path}
		c.Path = "/bin/sh"
	}
}

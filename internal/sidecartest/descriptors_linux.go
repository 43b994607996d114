package sidecartest

import (
	"fmt"
	"os"

	"github.com/stretchr/testify/require"
)

// Descriptors counts the process's open file descriptors.
func (p *Process) Descriptors() int {
	p.t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid))
	require.NoError(p.t, err)
	return len(entries)
}

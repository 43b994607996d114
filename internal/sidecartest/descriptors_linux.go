package sidecartest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
)

// Descriptors counts the process's open file descriptors, once it has no store open any more: after a delete one stays open for a moment.
func (p *Process) Descriptors() (n int) {
	p.t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid)
	require.Eventually(p.t, func() bool {
		entries, err := os.ReadDir(folder)
		n = len(entries)
		return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			path, err := os.Readlink(filepath.Join(folder, e.Name()))
			return err == nil && filepath.Base(path) == "state.db"
		})
	}, patience, 10*time.Millisecond, "a store stays open")
	return n
}

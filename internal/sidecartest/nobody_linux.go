package sidecartest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// AsNobody runs a test once more as a user whom file modes stop, where this one is root, and tells whether it did. The user can reach
// no folder of root's, and the child no program that a test has built.
func AsNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	// The kernel's own name of this binary: the way to its folder may be closed to others.
	child := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	child.Dir = os.TempDir()
	User(Nobody)(child)
	output, err := child.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name())
	return true
}

package deletion_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
	"session-sidecar/internal/trash"
)

// cover lays another file over one, which nobody can remove then.
func cover(t *testing.T, path, other string) {
	t.Helper()
	output, err := exec.Command("mount", "--bind", other, path).CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", path).Run()) })
}

// TestOneBadFileOfTheTrash keeps no other from being listed, and from going when its time is over.
func TestOneBadFileOfTheTrash(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema)
	operation := func(digit string) string { return strings.Repeat(digit, 32) }
	for digit, until := range map[string]int{"0": past, "1": past, "2": future, "3": future} {
		putEntry(t, home, operation(digit), until)
	}
	temporary := trash.Path(home.Path, operation("0")) + ".01234567.tmp"
	require.NoError(t, os.WriteFile(temporary, nil, 0o600))
	require.NoError(t, os.Mkdir(trash.Path(home.Path, operation("4"))+".01234567.tmp", 0o700))
	cover(t, temporary, temporary)                                                            // it is busy
	cover(t, trash.Path(home.Path, operation("0")), trash.Path(home.Path, operation("0")))    // likewise
	cover(t, trash.Path(home.Path, operation("2")), fmt.Sprintf("/proc/%d/mem", os.Getpid())) // a disk that gives nothing
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	require.True(t, p.Delete(home, "absent").OK)
	assert.Equal(t, []string{
		trash.Name(operation("0")), filepath.Base(temporary), trash.Name(operation("2")), trash.Name(operation("3")), trash.Name(operation("4")) + ".01234567.tmp",
	}, trashFiles(t, home))
	entries, unreadable := listing(t, p, home)
	assert.Equal(t, []string{operation("3")}, entries)
	assert.Equal(t, []string{trash.Name(operation("2"))}, unreadable)
	_, why := restored(t, p, home, operation("2"))
	assert.Equal(t, "io_error", why)
}

//go:build !windows

package newfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALinkMovesLikeARenameThatReplacesNothing is for the file systems that know no such rename.
func TestALinkMovesLikeARenameThatReplacesNothing(t *testing.T) {
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	require.NoError(t, os.WriteFile(from, []byte("new"), 0o600))
	require.NoError(t, linkThenRemove(from, to))
	assert.Equal(t, []string{"to"}, names(t, folder))

	require.NoError(t, os.WriteFile(from, []byte("newer"), 0o600))
	require.ErrorIs(t, linkThenRemove(from, to), fs.ErrExist)
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, "new", string(text))
}

//go:build unix

package links

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAFileWithASecondName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	several := func() bool {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		return Several(info)
	}
	assert.False(t, several())
	require.NoError(t, os.Link(path, path+" again"))
	assert.True(t, several())
	require.NoError(t, os.Remove(path+" again"))
	assert.False(t, several())
}

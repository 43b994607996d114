//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/trash"
)

func TestATrashThatOthersMayRead(t *testing.T) {
	home := newHome(t)
	keep(t, home.Path, "00000000000000000000000000000001", time.Now(), 30)
	require.NoError(t, os.Chmod(filepath.Join(home.Path, trash.FolderName), 0o755))
	assert.Equal(t, []Word{WordTrashExposed, WordTrashKept}, wordsOf(look(t, home.Path, false)))
}

package cleanup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"session-sidecar/internal/home"
	"session-sidecar/internal/sidecartest"
)

const storeName = home.StoreName

// manifestName is a manifest of this test with a number, in the form of contract 6.2.
func manifestName(number string) string {
	return manifestPrefix + strings.Repeat("0", 32-len(number)) + number + manifestSuffix
}

// put writes a manifest as another program may have written it.
func put(home *sidecartest.Home, number, content string) (name string) {
	name = manifestName(number)
	home.Write(filepath.Join(FolderName, name), content)
	return name
}

func files(home *sidecartest.Home, names ...string) {
	for _, name := range names {
		home.Write(filepath.Join(FolderName, name), "content of "+name)
	}
}

func content(t *testing.T, home *sidecartest.Home, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home.Path, FolderName, name))
	require.NoError(t, err)
	return string(text)
}

func info(t *testing.T, home *sidecartest.Home, name string) os.FileInfo {
	t.Helper()
	got, err := os.Lstat(filepath.Join(home.Path, FolderName, name))
	require.NoError(t, err)
	return got
}

func open(t *testing.T, home *sidecartest.Home) *Folder {
	t.Helper()
	folder, err := Open(home.Path)
	require.NoError(t, err)
	t.Cleanup(folder.Close)
	return folder
}

// alive answers as a store in which these sessions live.
func alive(live ...string) LiveFunc {
	return func(_ context.Context, ids []string) (map[string]bool, error) {
		answer := map[string]bool{}
		for _, id := range ids {
			for _, l := range live {
				answer[id] = answer[id] || id == l
			}
		}
		return answer, nil
	}
}

func process(t *testing.T, home *sidecartest.Home, live ...string) Report {
	t.Helper()
	return open(t, home).Process(t.Context(), alive(live...))
}

package platforms

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository's.
const root = "../.."

func table(t *testing.T) []Platform {
	t.Helper()
	platforms, err := read(filepath.Join(root, "npm", "platforms.json"))
	require.NoError(t, err)
	return platforms
}

// TestTheTable holds the names of one system in three vocabularies to each other: a package with a wrong program in it would be
// installed without a word.
func TestTheTable(t *testing.T) {
	systems := map[string]string{"linux": "linux", "win32": "windows", "darwin": "darwin"}
	processors := map[string]string{"x64": "amd64", "arm64": "arm64"}
	seen := map[string]bool{}
	for _, p := range table(t) {
		assert.Equal(t, "session-sidecar-"+p.OS+"-"+p.CPU, p.Name)
		assert.Equal(t, systems[p.OS], p.GOOS, p.Name)
		assert.Equal(t, processors[p.CPU], p.GOARCH, p.Name)
		binary := "bin/sidecar" // where the client looks
		if p.OS == "win32" {
			binary += ".exe"
		}
		assert.Equal(t, binary, p.Binary, p.Name)
		assert.Equal(t, p.Here != "", p.Tried != nil, "%s: what is built here is run here", p.Name)
		assert.NotEmpty(t, p.Runner, p.Name)
		assert.NotEmpty(t, p.CC, p.Name)
		seen[p.Name] = true
	}
	assert.Len(t, seen, len(systems)*len(processors))
}

// TestEveryPlatformIsDescribed reads docs/platforms.md and the workflow that builds the releases.
func TestEveryPlatformIsDescribed(t *testing.T) {
	for _, path := range []string{"docs/platforms.md", ".github/workflows/release.yml"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		for _, p := range table(t) {
			assert.Contains(t, string(text), p.OS+"-"+p.CPU, path)
			assert.Contains(t, string(text), p.Runner, path)
		}
	}
}

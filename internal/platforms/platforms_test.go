package platforms

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository's.
const root = "../.."

func table(t *testing.T) []Platform {
	t.Helper()
	platforms, err := readTable(filepath.Join(root, "npm", "platforms.json"))
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

// TestEveryPlatformIsDescribed reads docs/reference/platforms.md and the workflows, which build each platform where the table says.
func TestEveryPlatformIsDescribed(t *testing.T) {
	documented, release, tested := read(t, "docs/reference/platforms.md"), read(t, ".github/workflows/release.yml"), read(t, ".github/workflows/test.yml")
	for _, p := range table(t) {
		name := p.OS + "-" + p.CPU
		built := fmt.Sprintf("- { platform: %s, runner: %s, cc: %s }\n", name, p.Runner, p.CC)
		assert.Regexp(t, `(?m)^\| `+name+` \|.* \| `+regexp.QuoteMeta(p.Runner)+` \|`, documented)
		assert.Contains(t, release, built)
		if strings.Contains(tested, "platform: "+name) {
			assert.Contains(t, tested, built)
		}
	}
	assert.Equal(t, len(table(t)), strings.Count(release, "- { platform:"))
}

// TestWhatAReleaseGives reads the release's workflow, which cannot run here: nothing is published that was not looked at and tested, and
// everything that is has its checksum, its provenance, and, where it is a program, the list of what is in it.
func TestWhatAReleaseGives(t *testing.T) {
	build, rest, found := strings.Cut(read(t, ".github/workflows/release.yml"), "\n  pack:\n")
	require.True(t, found)
	pack, publish, found := strings.Cut(rest, "\n  publish:\n")
	require.True(t, found)
	inOrder(t, build, "persist-credentials: false", "cache: false", "npm/scripts/version.mjs", "npm/scripts/build.mjs", "-run TestPrograms ./internal/platforms",
		"npm/scripts/sbom.mjs", "actions/attest-build-provenance@", "programs/*/bin/sidecar*", "actions/attest-sbom@", "programs/*/bin/sidecar*", "sbom-path:", "upload-artifact@")
	inOrder(t, pack, "needs: build", "npm ci --prefix npm --ignore-scripts", "pack.mjs --all", "check.mjs", "installed.mjs", "SHA256SUMS",
		"actions/attest-build-provenance@", "build/npm/*.tgz", "build/npm/SHA256SUMS", "upload-artifact@")
	inOrder(t, publish, "needs: pack", "environment: npm", "id-token: write", "sha256sum --check", "session-sidecar-{linux,win32,darwin}-*.tgz ./session-sidecar-[0-9]*.tgz",
		"npm publish --provenance", "\n  announce:\n", "needs: publish", "gh release create", "--verify-tag", "SHA256SUMS")
	assert.NotContains(t, build+rest, "NODE_AUTH_TOKEN", "there is no token to lose")
}

// inOrder requires that a text has the parts, one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		_, after, found := strings.Cut(text, part)
		require.True(t, found, "%s is missing, or not where it belongs", part)
		text = after
	}
}

// read gives a file of the repository, with the line ends of this one.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

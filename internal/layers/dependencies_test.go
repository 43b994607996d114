package layers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/reference/dependencies.md has a line for each direct dependency of this module and of its npm packages, and for nothing else.
func TestEachDependencyHasALine(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "dependencies.md"))
	require.NoError(t, err)
	var lines []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.+\\S.+)\\|(.+\\S.+)\\|(.+\\S.+)\\|$").FindAllStringSubmatch(string(page), -1) {
		lines = append(lines, row[1])
	}

	var module struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	edit.Dir = root
	out, err := edit.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &module))
	var there []string
	for _, r := range module.Require {
		isTool := slices.ContainsFunc(module.Tool, func(tool struct{ Path string }) bool {
			return strings.HasPrefix(tool.Path+"/", r.Path+"/")
		})
		if !r.Indirect || isTool {
			there = append(there, r.Path)
		}
	}
	require.Greater(t, len(there), 15)

	packages, err := filepath.Glob(filepath.Join(root, "npm", "examples", "*", "package.json"))
	require.NoError(t, err)
	for _, path := range append(packages, filepath.Join(root, "npm", "package.json")) {
		var described struct{ Dependencies, DevDependencies map[string]string }
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &described), path)
		for _, names := range []map[string]string{described.Dependencies, described.DevDependencies} {
			for name := range names {
				if name != "session-sidecar" && !slices.Contains(there, name) {
					there = append(there, name)
				}
			}
		}
	}
	slices.Sort(lines)
	slices.Sort(there)
	assert.Equal(t, there, lines)
}

package cleanup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestLinksGoThemselves(t *testing.T) {
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("mine"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(outside, "folder"), 0o700))
	home := sidecartest.NewHome(t)
	files(home, "live.json")
	for name, target := range map[string]string{
		"x.json":                filepath.Join(outside, "file"),
		"x.jsonl":               "live.json",
		"session_x.json":        filepath.Join(outside, "folder"),
		"request_dump_x_1.json": "nothing",
		"request_dump_x_2.json": "../..",
		"request_dump_x_3.json": "request_dump_x_3.json",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(home.Path, FolderName, name)))
	}
	put(home, "1", `["x"]`)
	assert.Equal(t, Report{Removed: []string{"x"}}, process(t, home))
	assert.Equal(t, []string{"live.json"}, home.Sessions())
	assert.Equal(t, "content of live.json", content(t, home, "live.json"))
	text, err := os.ReadFile(filepath.Join(outside, "file"))
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	assert.DirExists(t, filepath.Join(outside, "folder"))
}

// A name of the file that lies elsewhere is not ours.
func TestHardLinksLoseTheirNameHereAlone(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Write("elsewhere.json", "mine")
	require.NoError(t, os.Link(filepath.Join(home.Path, "elsewhere.json"), filepath.Join(home.Path, FolderName, "x.json")))
	put(home, "1", `["x"]`)
	assert.Equal(t, Report{Removed: []string{"x"}}, process(t, home))
	text, err := os.ReadFile(filepath.Join(home.Path, "elsewhere.json"))
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
}

func TestAFolderIsNoArtifact(t *testing.T) {
	for name, fill := range map[string]string{"empty": "", "full": "file"} {
		t.Run(name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			home.Artifacts("x", "y")
			folder := filepath.Join(home.Path, FolderName, "x.json")
			require.NoError(t, os.Remove(folder))
			require.NoError(t, os.Mkdir(folder, 0o700))
			if fill != "" {
				home.Write(filepath.Join(FolderName, "x.json", fill), "text")
			}
			manifest := put(home, "1", `["y","x"]`)
			for range 2 { // a second run changes nothing
				report := process(t, home)
				assert.Equal(t, []Pending{{"x", CauseArtifactStuck}}, report.Pending)
				assert.NoError(t, report.Failed)
				assert.Equal(t, []string{manifest, "x.json"}, home.Sessions(), "what can go goes")
				assert.Equal(t, `["x"]`, content(t, home, manifest))
			}
			require.NoError(t, os.RemoveAll(folder))
			assert.Equal(t, Report{Removed: []string{"x"}}, process(t, home))
			assert.Empty(t, home.Sessions())
		})
	}
}

// Both own the name, and neither is settled while it is there.
func TestAStuckNameOfTwo(t *testing.T) {
	home := sidecartest.NewHome(t)
	require.NoError(t, os.Mkdir(filepath.Join(home.Path, FolderName, "request_dump_a_b_1.json"), 0o700))
	manifest := put(home, "1", `["a","a_b","z"]`)
	report := process(t, home)
	assert.Equal(t, []Pending{{"a", CauseArtifactStuck}, {"a_b", CauseArtifactStuck}}, report.Pending)
	assert.Equal(t, []string{"z"}, report.Removed)
	assert.Equal(t, `["a","a_b"]`, content(t, home, manifest))
}

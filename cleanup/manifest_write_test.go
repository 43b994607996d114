package cleanup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestFormOfAManifest(t *testing.T) {
	home := sidecartest.NewHome(t)
	folder := open(t, home)
	manifest, err := folder.WriteManifest([]string{"b", "a.<&>:1", "c", "B", "b"})
	require.NoError(t, err)
	assert.Regexp(t, `^\.cleanup_manifest_[0-9a-f]{32}\.json$`, string(manifest))
	assert.Equal(t, []string{string(manifest)}, home.Sessions(), "nothing but the manifest")
	assert.Equal(t, `["B","a.<&>:1","b","c"]`, content(t, home, string(manifest)))
	assert.Equal(t, os.FileMode(0o600), info(t, home, string(manifest)).Mode())

	second, err := folder.WriteManifest([]string{"b"})
	require.NoError(t, err)
	assert.NotEqual(t, manifest, second)
	assert.Len(t, home.Manifests(), 2)
}

// A store may hold ids that no JSON can spell: the manifest stays readable, and such an id is never a file name.
func TestManifestOfOddIDs(t *testing.T) {
	home := sidecartest.NewHome(t)
	ids := []string{"a\"b", "line\nbreak", "\xff", "../x", "ä", ""}
	manifest, err := open(t, home).WriteManifest(ids)
	require.NoError(t, err)
	var got []string
	require.NoError(t, json.Unmarshal([]byte(content(t, home, string(manifest))), &got))
	assert.ElementsMatch(t, []string{"a\"b", "line\nbreak", "\ufffd", "../x", "ä", ""}, got)
	report := process(t, home)
	assert.Len(t, report.Pending, len(ids))
	for _, p := range report.Pending {
		assert.Equal(t, CauseUnsafeID, p.Cause)
	}
}

func TestMissingFolderIsMadePrivate(t *testing.T) {
	home := bareHome(t)
	folder := open(t, home)
	manifest, err := folder.WriteManifest([]string{"x"})
	require.NoError(t, err)
	made, err := os.Lstat(filepath.Join(home.Path, FolderName))
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|0o700, made.Mode())
	assert.Equal(t, []string{string(manifest)}, home.Sessions())
	assert.Equal(t, []string{"x"}, folder.Process(t.Context(), alive()).Removed)
	assert.Empty(t, home.Sessions())
}

// The Agent makes sessions/ when it saves the first one, which may be just now.
func TestFolderThatComesMeanwhileIsUsed(t *testing.T) {
	home := bareHome(t)
	folder := open(t, home)
	home.Artifacts("x", "y")
	manifest, err := folder.WriteManifest([]string{"x"})
	require.NoError(t, err)
	assert.Contains(t, home.Sessions(), string(manifest))
	assert.Equal(t, []string{"x"}, folder.Process(t.Context(), alive()).Removed)
	assert.Len(t, home.Sessions(), 4)
}

func TestWhatComesMeanwhileMayBeNoFolder(t *testing.T) {
	outside := sidecartest.NewHome(t)
	for name, prepare := range map[string]func(home *sidecartest.Home){
		"a file":     func(home *sidecartest.Home) { home.Write(FolderName, "text") },
		"a link out": func(home *sidecartest.Home) { linkSessions(t, home, filepath.Join(outside.Path, FolderName)) },
	} {
		t.Run(name, func(t *testing.T) {
			home := bareHome(t)
			folder := open(t, home)
			prepare(home)
			_, err := folder.WriteManifest([]string{"x"})
			require.ErrorIs(t, err, ErrManifest)
			var failure *Error
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, FolderName, failure.Name)
			assert.Empty(t, outside.Sessions())
		})
	}
}

func TestWithdraw(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Artifacts("x")
	folder := open(t, home)
	kept, err := folder.WriteManifest([]string{"x"})
	require.NoError(t, err)
	withdrawn, err := folder.WriteManifest([]string{"y"})
	require.NoError(t, err)
	require.NoError(t, folder.Withdraw(withdrawn))
	assert.Equal(t, []string{string(kept)}, home.Manifests())
	assert.Len(t, home.Sessions(), 5, "no artifact went")
	require.NoError(t, folder.Withdraw(withdrawn), "another program may have been quicker")
}

package cleanup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func inspect(t *testing.T, home string, live ...string) *Inspection {
	t.Helper()
	folder, err := Open(home)
	require.NoError(t, err)
	defer folder.Close()
	listing, err := folder.List(t.Context())
	require.NoError(t, err)
	found, err := listing.Inspect(t.Context(), func(_ context.Context, ids []string) (map[string]bool, error) {
		alive := map[string]bool{}
		for _, id := range ids {
			alive[id] = slices.Contains(live, id)
		}
		return alive, nil
	})
	require.NoError(t, err)
	return found
}

func TestInspect(t *testing.T) {
	home := t.TempDir()
	sessions := filepath.Join(home, FolderName)
	require.NoError(t, os.Mkdir(sessions, 0o700))
	for _, name := range []string{
		"live.json", "live.jsonl", "session_live.json", "request_dump_live_1.json", "request_dump_live_more_1.json",
		"gone.json", "request_dump_gone_1.json", "pending.json", "sessions.json", "notes.txt", "lost.bin", "-.-.json", "ü.json",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(sessions, name), []byte("123"), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(sessions, "folder.json"), 0o700))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(sessions, "link.json")))
	for name, text := range map[string]string{
		".cleanup_manifest_a.json": `["pending","live","folder"]`, ".cleanup_manifest_b.json": `["../x","nothing"]`,
		".cleanup_manifest_c.json": `{}`, ".cleanup_manifest_d.json.1.tmp": `[`, ".cleanup_manifest_e.json.1.tmp": `[`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(sessions, name), []byte(text), 0o600))
	}
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(sessions, ".cleanup_manifest_d.json.1.tmp"), old, old))
	before, err := os.ReadDir(sessions)
	require.NoError(t, err)

	assert.Equal(t, &Inspection{
		Artifacts: 6,
		Manifests: 2,
		Pending: []Pending{
			{"../x", CauseUnsafeID}, {"folder", CauseArtifactStuck}, {"live", CauseSessionLive}, {"nothing", CauseNone}, {"pending", CauseNone},
		},
		Unreadable: []string{".cleanup_manifest_c.json"},
		Abandoned:  []string{".cleanup_manifest_d.json.1.tmp"},
		Orphans:    []Artifact{{"-.-.json", 3}, {"gone.json", 3}, {"link.json", 7}, {"request_dump_gone_1.json", 3}},
	}, inspect(t, home, "live"))

	after, err := os.ReadDir(sessions)
	require.NoError(t, err)
	assert.Equal(t, len(before), len(after), "nothing is removed, not even what a run would remove")
}

func TestInspectWithoutAFolder(t *testing.T) {
	assert.Equal(t, &Inspection{}, inspect(t, t.TempDir()))
}

// Where the store cannot be asked, nobody knows whose a file is.
func TestInspectWithoutAStore(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, FolderName), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, FolderName, "x.json"), nil, 0o600))
	folder, err := Open(home)
	require.NoError(t, err)
	defer folder.Close()
	listing, err := folder.List(t.Context())
	require.NoError(t, err)
	broken := errors.New("no store")
	_, err = listing.Inspect(t.Context(), func(context.Context, []string) (map[string]bool, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
}

// Whoever asked may have no more time, or no more wish to know.
func TestAListHearsACancel(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, FolderName), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, FolderName, manifestPrefix+"1"+manifestSuffix), []byte(`["a"]`), 0o600))
	folder, err := Open(home)
	require.NoError(t, err)
	defer folder.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = folder.List(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// A delete beside us names its sessions before their rows go, and takes the name back once their files are gone: what it has still to
// do, and what it has done meanwhile, is nobody's leftover.
func TestInspectBesideADelete(t *testing.T) {
	home := t.TempDir()
	sessions := filepath.Join(home, FolderName)
	require.NoError(t, os.Mkdir(sessions, 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(sessions, name), []byte(text), 0o600))
	}
	for _, name := range []string{"begun.json", "ended.json", "orphan.json", "left.json"} {
		write(name, "123")
	}
	write(".cleanup_manifest_a.json", `["ended","unsafe/id"]`)
	write(".cleanup_manifest_c.json", `["left"]`)
	folder, err := Open(home)
	require.NoError(t, err)
	defer folder.Close()
	listing, err := folder.List(t.Context())
	require.NoError(t, err)
	found, err := listing.Inspect(t.Context(), func(context.Context, []string) (map[string]bool, error) {
		write(".cleanup_manifest_b.json", `["begun"]`)
		for _, name := range []string{"ended.json", ".cleanup_manifest_a.json"} {
			if err := os.Remove(filepath.Join(sessions, name)); !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, err)
			}
		}
		return map[string]bool{}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, []Pending{{SessionID: "left"}}, found.Pending)
	assert.Equal(t, []Artifact{{Name: "orphan.json", Bytes: 3}}, found.Orphans)
}

//go:build unix

package deletion_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// filesIn is what every file in a folder says.
func filesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(text)
	}
	return files
}

// requireOnlyOwnGone compares a folder with what was in it: artifacts of these ids may be gone, and a manifest may have come or
// changed; nothing else.
func requireOnlyOwnGone(t *testing.T, folder string, before map[string]string, ids ...string) {
	t.Helper()
	may := map[string]bool{older: true}
	for _, id := range ids {
		for _, form := range []string{"%s.json", "%s.jsonl", "session_%s.json", "request_dump_%s_1.json"} {
			may[fmt.Sprintf(form, id)] = true
		}
	}
	now := filesIn(t, folder)
	for name, text := range before {
		if _, there := now[name]; there || !may[name] {
			if name != older {
				assert.Equal(t, text, now[name], "%s in %s", name, folder)
			}
		}
	}
	for name := range now {
		_, was := before[name]
		assert.True(t, was || filepath.Ext(name) == ".json" && filepath.Base(name)[0] == '.', "%s came to %s", name, folder)
	}
}

// TestSessionsIsSwappedForALinkBetweenTwoSteps: at each instant of a delete the folder is moved away and a link takes its place,
// to a folder elsewhere, or to one inside the home, where files have the same names.
func TestSessionsIsSwappedForALinkBetweenTwoSteps(t *testing.T) {
	for _, point := range faultpoint.OfDelete() {
		for _, to := range []string{"outside", "inside"} {
			t.Run(to+","+string(point), func(t *testing.T) {
				t.Parallel()
				swapSessionsAt(t, point, to)
			})
		}
	}
}

func swapSessionsAt(t *testing.T, point faultpoint.Point, to string) {
	t.Helper()
	w := ways[0]
	home := w.home(t, true)
	sessions, moved := filepath.Join(home.Path, "sessions"), filepath.Join(home.Path, "moved")
	target := sidecartest.NewHome(t)
	if to == "inside" {
		target = sidecartest.NewHomeAt(t, filepath.Join(home.Path, "other"))
	}
	target.Artifacts("P", "D", "Q", "LIVE", "gone", "unrelated")
	target.Write("sessions/sessions.json", "an index")
	lies := filepath.Join(target.Path, "sessions")
	there := filesIn(t, lies)
	here := filesIn(t, sessions)

	p := heldAt(t, point, home, func(p *sidecartest.Process) {
		p.Handshake()
		p.Request(1, w.method, w.params(home))
	}, func() {
		require.NoError(t, os.Rename(sessions, moved))
		require.NoError(t, os.Symlink(lies, sessions))
	})
	reply := p.Reply()
	require.Nil(t, reply.Error)
	var result sidecartest.DeleteResult
	require.NoError(t, json.Unmarshal(reply.Result, &result))
	home.RequireSound()
	fate := fateOf(t, home, w.canonical, "P", "D")
	assert.Equal(t, result.DeletedIDs != nil, fate == retired)
	for _, id := range []string{"Q", "LIVE"} {
		assert.Equal(t, stands, fateOf(t, home, w.canonical, id))
	}
	// A folder that was opened stays the one that is meant; only before that, a link inside the home is followed.
	opened := point != faultpoint.LockHeld
	switch {
	case opened:
		assert.Equal(t, there, filesIn(t, lies))
		requireOnlyOwnGone(t, moved, here, "P", "D", "gone")
	case to == "outside":
		assert.Equal(t, "io_error", result.Reason)
		assert.Equal(t, there, filesIn(t, lies))
		assert.Equal(t, here, filesIn(t, moved))
	default:
		assert.True(t, result.OK, result.Detail)
		requireOnlyOwnGone(t, lies, there, "P", "D")
		assert.Equal(t, here, filesIn(t, moved))
	}
	if fate == retired && opened {
		assert.True(t, result.OK, "its files were in the folder that was meant: %s", result.Detail)
	}

	// With the folder back in its place, everything is finished.
	require.NoError(t, os.Remove(sessions))
	require.NoError(t, os.Rename(moved, sessions))
	require.True(t, p.Delete(home, "P").OK)
	require.Equal(t, retired, fateOf(t, home, w.canonical, "P", "D"))
	assert.Empty(t, artifactsOf(home, "P", "gone"))
	requireArtifacts(t, home, "Q", "LIVE")
}

// TestAnArtifactIsSwappedForALink between the look at it and its end: the link goes, and what it points to stays. A folder is none
// at the last moment either.
func TestAnArtifactIsSwappedForALink(t *testing.T) {
	for name, swap := range map[string]func(t *testing.T, path, outside string){
		"a symbolic link": func(t *testing.T, path, outside string) { require.NoError(t, os.Symlink(outside, path)) },
		"a link to a folder": func(t *testing.T, path, outside string) {
			require.NoError(t, os.Symlink(filepath.Dir(outside), path))
		},
		"a hard link": func(t *testing.T, path, outside string) { require.NoError(t, os.Link(outside, path)) },
		"a folder": func(t *testing.T, path, _ string) {
			require.NoError(t, os.Mkdir(path, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(path, "file"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := homeForCrashes(t, false)
			outside := filepath.Join(t.TempDir(), "outside")
			require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o600))
			path := filepath.Join(home.Path, "sessions/D.json") // the first that goes
			p := heldAt(t, faultpoint.BeforeUnlink, home, func(p *sidecartest.Process) {
				p.Handshake()
				p.Request(1, ways[0].method, ways[0].params(home))
			}, func() {
				require.NoError(t, os.Remove(path))
				swap(t, path, outside)
			})
			result := string(p.Reply().Result)
			text, err := os.ReadFile(outside)
			require.NoError(t, err)
			assert.Equal(t, "mine", string(text))
			if name == "a folder" {
				assert.Contains(t, result, `"pending":[{"session_id":"D","cause":"artifact_stuck"}]`)
				assert.FileExists(t, filepath.Join(path, "file"))
				return
			}
			assert.Contains(t, result, `"ok":true`)
			assert.Equal(t, []string{"LIVE.json", "LIVE.jsonl", "request_dump_LIVE_1.json", "session_LIVE.json"}, home.Sessions())
		})
	}
}

// TestTheStoreIsSwappedForALink: while what earlier deletes left is worked through, a link to another store takes the place of
// the one that was found. The other one is not touched.
func TestTheStoreIsSwappedForALink(t *testing.T) {
	home := homeForCrashes(t, true)
	other := sidecartest.NewHome(t)
	other.Create(fixtures.LegacySchema, family)
	const rows = "SELECT id FROM sessions UNION ALL SELECT session_id FROM messages"
	before := other.Query(rows)
	p := heldAt(t, faultpoint.BeforeUnlink, home, func(p *sidecartest.Process) {
		p.Handshake()
		p.Request(1, ways[0].method, ways[0].params(home))
	}, func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			require.NoError(t, os.Rename(home.Store()+suffix, home.Store()+".moved"+suffix))
		}
		require.NoError(t, os.Symlink(other.Store(), home.Store()))
	})
	assert.Contains(t, string(p.Reply().Result), `"ok":false,"reason":"io_error","detail":"state.db is not a regular file"`)
	assert.NoFileExists(t, other.Store()+"-wal", "it was not opened")
	assert.Equal(t, before, other.Query(rows))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Rename(home.Store()+".moved"+suffix, home.Store()+suffix))
	}
	assert.Equal(t, stands, fateOf(t, home, false, "P", "D"))
	requireArtifacts(t, home, "P", "D", "LIVE")
}

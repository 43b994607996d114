package deletion_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/deletion"
	"session-sidecar/internal/sidecartest"
)

// homeWithMedia has a store with the runtime ledger in which a session LIVE says something.
func homeWithMedia(t *testing.T, schema string) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(schema, family)
	return home
}

// note notes media as a retirement does, and makes the file where it has an age.
func note(t *testing.T, home *sidecartest.Home, hash string, age time.Duration) (path string) {
	t.Helper()
	hash = strings.Repeat(hash, 64)
	path = filepath.Join(home.Path, "native-inputs", hash, "a.png")
	if age > 0 {
		home.Write("native-inputs/"+hash+"/a.png", "content")
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, then, then))
	}
	noteAt(t, home, path, hash)
	return path
}

func noteAt(t *testing.T, home *sidecartest.Home, path, hash string) {
	t.Helper()
	sum := sha256.Sum256([]byte(path))
	value, err := json.Marshal(map[string]string{"path": path, "sha256": hash})
	require.NoError(t, err)
	_, err = home.Open().Exec("INSERT INTO state_meta VALUES (?, ?)", "gateway.media.retired.v1."+hex.EncodeToString(sum[:]), string(value))
	require.NoError(t, err)
}

// noted are the paths that are still noted, and the notes of spilled files.
func noted(home *sidecartest.Home) (media, spilled []string) {
	return home.Query(`SELECT value ->> 'path' FROM state_meta WHERE key GLOB 'gateway.media.*' ORDER BY 1`),
		home.Query(`SELECT key, value FROM state_meta WHERE key GLOB 'sidecar.spill.*' ORDER BY 1`)
}

func cleanUp(t *testing.T, home *sidecartest.Home) *deletion.Deleter {
	t.Helper()
	d := deletion.New(sidecartest.Log(t))
	require.NoError(t, d.CleanUp(t.Context(), home.Path))
	return d
}

const aDay = 24 * time.Hour

func TestMediaThatNobodyNamesGoes(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	goes, gone := note(t, home, "a", aDay), note(t, home, "b", 0)
	young, named := note(t, home, "c", time.Minute), note(t, home, "d", aDay)
	linked, admitted := note(t, home, "e", aDay), note(t, home, "f", aDay)
	foreign := filepath.Join(t.TempDir(), "native-inputs", strings.Repeat("1", 64), "absent.png")
	noteAt(t, home, foreign, strings.Repeat("1", 64))
	require.NoError(t, os.Link(linked, linked+".2"))
	home.Exec(`INSERT INTO messages (session_id, role, media_content, timestamp) VALUES ('LIVE', 'user', '`+named+`', 1)`,
		`INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json,
			payload_digest, intent, status, owner_epoch) VALUES ('x', 'r', 'p', 'LIVE', '[]', '{"x":"`+strings.Repeat("f", 64)+`"}', '', '', 'terminal', 1)`)

	d := cleanUp(t, home)
	assert.Empty(t, d.Reports(), "what is held or too young is no failure")
	assert.NoFileExists(t, goes)
	assert.NoFileExists(t, gone)
	for _, path := range []string{young, named, linked, admitted} {
		assert.FileExists(t, path)
	}
	media, _ := noted(home)
	assert.ElementsMatch(t, []string{young, named, linked, admitted, foreign}, media)
	home.RequireSound()

	home.Exec("DELETE FROM messages WHERE media_content IS NOT NULL", "DELETE FROM session_admissions")
	require.NoError(t, d.CleanUp(t.Context(), home.Path))
	assert.NoFileExists(t, named)
	assert.NoFileExists(t, admitted)
	media, _ = noted(home)
	assert.ElementsMatch(t, []string{young, linked, foreign}, media)
}

func TestSpilledFilesThatNobodyNamesGo(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	for _, name := range []string{"a.txt", "b.txt", "tool-results/a.txt", "c.txt"} {
		home.Write("cache/spillover/"+name, "content")
	}
	home.Exec(`INSERT INTO state_meta VALUES
		('gateway.retired_session.v1.V', '{}'), ('gateway.retired_session.v1.W', '{}'), 
		('sidecar.spill.v1.01', '{"files":["cache/spillover/a.txt","cache/spillover/absent.txt"],"session_ids":["V"]}'),
		('sidecar.spill.v1.02', '{"files":["cache/spillover/b.txt","cache/spillover/tool-results/c.txt"],"session_ids":["W"]}'),
		('sidecar.spill.v1.03', '{"files":["cache/spillover/tool-results/a.txt","state.db"],"session_ids":["W"]}'),
		('sidecar.spill.v1.04', '{"files":[],"session_ids":[]}')`,
		`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('LIVE', 'user', 'look into b.txt', 1)`)
	d := cleanUp(t, home)
	assert.Empty(t, d.Reports())
	_, spilled := noted(home)
	assert.Equal(t, []string{`sidecar.spill.v1.03|{"files":["cache/spillover/tool-results/a.txt","state.db"],"session_ids":["W"]}`},
		spilled, "one that is not of our form notes nothing and stays")
	for name, there := range map[string]bool{"a.txt": false, "b.txt": true, "tool-results/a.txt": true, "c.txt": true} {
		if path := filepath.Join(home.Path, "cache/spillover", name); there {
			assert.FileExists(t, path)
		} else {
			assert.NoFileExists(t, path)
		}
	}
	home.RequireSound()
}

// What cannot go now stays noted: one that a folder that became a link hides.
func TestSpilledFilesBehindALinkStayNoted(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	home.Write("elsewhere/spillover/a.txt", "content")
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(home.Path, "cache")))
	home.Exec(`INSERT INTO state_meta VALUES ('gateway.retired_session.v1.V', '{}'), ('sidecar.spill.v1.01', '{"files":["cache/spillover/a.txt"],"session_ids":["V"]}')`)
	cleanUp(t, home)
	_, spilled := noted(home)
	assert.Len(t, spilled, 1)
	assert.FileExists(t, filepath.Join(home.Path, "elsewhere/spillover/a.txt"))
}

// A store that never had the ledger is not ours to collect in, whatever its keys look like.
func TestNothingIsCollectedInAnotherStore(t *testing.T) {
	for name, c := range map[string]struct{ schema, statement string }{
		"legacy":             {fixtures.LegacySchema, ""},
		"part of the ledger": {fixtures.RuntimeSchema, "DROP TABLE worker_receipts"},
	} {
		t.Run(name, func(t *testing.T) {
			home := homeWithMedia(t, c.schema)
			path := note(t, home, "a", aDay)
			if c.statement != "" {
				home.Exec(c.statement)
			}
			cleanUp(t, home)
			assert.FileExists(t, path)
			media, _ := noted(home)
			assert.Equal(t, []string{path}, media)
		})
	}
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	home.Exec("DROP TABLE state_meta")
	cleanUp(t, home)
}

// The store is busy: that can wait until the next time.
func TestMediaOfABusyStoreStaysNoted(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	path := note(t, home, "a", aDay)
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	var log bytes.Buffer
	d := deletion.New(sidecartest.Log(t, &log))
	require.NoError(t, d.CleanUp(t.Context(), home.Path))
	assert.Empty(t, d.Reports())
	assert.Empty(t, log.String(), "it is no failure")
	assert.FileExists(t, path)
	holder.Release()
	require.NoError(t, d.CleanUp(t.Context(), home.Path))
	assert.NoFileExists(t, path)
	media, _ := noted(home)
	assert.Empty(t, media)
}

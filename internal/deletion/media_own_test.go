package deletion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/cleanup"
	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
	"session-sidecar/statedb"
)

func failed(id string) cleanup.Pending {
	return cleanup.Pending{SessionID: id, Cause: cleanup.CauseMediaFailed}
}

func TestWhichStuckFilesAreADeletesOwn(t *testing.T) {
	own := []statedb.Media{{Path: "/mine", SHA256: "h", SessionID: "V"}, {Path: "cache/spillover/x.txt", SessionID: "W"}}
	mine, older := stuckFile{path: "/mine"}, stuckFile{path: "/older"}
	spilled, olderSpilled := stuckFile{path: "cache/spillover/x.txt", session: "V"}, stuckFile{path: "cache/spillover/y.txt", session: "V"}
	assert.True(t, anyOwn([]stuckFile{older, mine}, own))
	assert.True(t, anyOwn([]stuckFile{olderSpilled, spilled}, own))
	assert.False(t, anyOwn([]stuckFile{older, olderSpilled}, own))
	assert.False(t, anyOwn(nil, own))
	assert.Equal(t, []cleanup.Pending{failed("V"), failed("W"), failed(""), failed("V")},
		pendingOf([]stuckFile{mine, spilled, older, olderSpilled}, own))
}

// A stuck file of an older delete of the same id does not make an artifact of this one stuck.
func TestAnOlderStuckFileIsNoStuckArtifact(t *testing.T) {
	report := cleanup.Report{Removed: []string{"V"}, Pending: []cleanup.Pending{failed("V")}}
	assert.False(t, anyStuck(report, []string{"V"}))
	report.Add(cleanup.Pending{SessionID: "V", Cause: cleanup.CauseArtifactStuck})
	assert.True(t, anyStuck(report, []string{"V"}))
}

var mediaHash = strings.Repeat("a", 64)

// homeWithFiles has an old media file and a spilled one, both noted, and nothing that names them.
func homeWithFiles(t *testing.T) (h lockedHome, home *sidecartest.Home, files []cleanup.Named) {
	t.Helper()
	home = sidecartest.NewHome(t)
	path := filepath.Join(home.Path, "native-inputs", mediaHash, "a.png")
	home.Write("native-inputs/"+mediaHash+"/a.png", "content")
	dayAgo := time.Now().Add(-24 * time.Hour)
	require.NoError(t, os.Chtimes(path, dayAgo, dayAgo))
	home.Write("cache/spillover/a.txt", "content")
	sum := sha256.Sum256([]byte(path))
	home.Create(fixtures.RuntimeSchema, "PRAGMA journal_mode = wal", `INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1)`,
		`INSERT INTO state_meta VALUES ('gateway.retired_session.v1.V', '{}'), ('sidecar.spill.v1.01', '{"files":["cache/spillover/a.txt"],"session_ids":["V"]}'),
		('gateway.media.retired.v1.`+hex.EncodeToString(sum[:])+`', '{"path":"`+path+`","sha256":"`+mediaHash+`"}')`)
	folder, err := cleanup.Open(home.Path)
	require.NoError(t, err)
	t.Cleanup(folder.Close)
	return lockedHome{path: home.Path, store: home.Store(), folder: folder}, home, []cleanup.Named{{Path: path, SHA256: mediaHash}, {Path: "cache/spillover/a.txt"}}
}

// nameBoth lets a message name both files.
const nameBoth = `INSERT INTO messages (session_id, role, content, timestamp)
	SELECT 'a', 'user', value || ' a.txt', 1 FROM (SELECT json_extract(value, '$.sha256') value FROM state_meta WHERE key GLOB 'gateway.media*')`

func lookingAt(t *testing.T, h lockedHome) *collection {
	t.Helper()
	c := newCollection(h, nil)
	look, err := statedb.StartLook(t.Context(), h.store, statedb.LookPatience)
	require.NoError(t, err)
	t.Cleanup(look.Close)
	c.look = look
	return c
}

// Somebody names the files after the look without the write lock and before it is held: it does not hold, and nothing goes.
func TestFilesThatAreNamedAtTheLastMomentStay(t *testing.T) {
	h, home, files := homeWithFiles(t)
	c := lookingAt(t, h)
	do, err := c.ask(t.Context(), c.look)
	require.NoError(t, err)
	require.ElementsMatch(t, files, do.unlink)
	home.Exec(nameBoth)
	held, err := c.remove(t.Context(), do)
	require.NoError(t, err)
	assert.False(t, held)
	for _, file := range files {
		assert.Equal(t, cleanup.NamedRemovable, h.folder.State(file))
	}

	require.NoError(t, c.look.Again(t.Context()))
	require.NoError(t, c.collect(t.Context()))
	assert.Empty(t, c.stuck)
	for _, file := range files {
		assert.Equal(t, cleanup.NamedRemovable, h.folder.State(file))
		assert.True(t, c.settled[file])
	}
	assert.Len(t, home.Query("SELECT * FROM state_meta WHERE key NOT GLOB 'gateway.retired_session*'"), 1, "a spilled file that is in use again is nothing to remove")
}

// A store in which somebody writes all the time: what the look saw is asked again under the lock.
func TestFilesAreAskedForUnderTheLockInTheEnd(t *testing.T) {
	for _, named := range []bool{false, true} {
		h, home, files := homeWithFiles(t)
		c := lookingAt(t, h)
		if named {
			home.Exec(nameBoth)
		}
		require.NoError(t, c.removeUnderLock(t.Context()))
		for _, file := range files {
			assert.True(t, c.settled[file])
			assert.Equal(t, !named, c.gone[file])
			assert.Equal(t, named, h.folder.State(file) == cleanup.NamedRemovable)
		}
		notes := 2 // of what is gone, which is not certain yet
		if named {
			notes = 1 // of the media
		}
		assert.Len(t, home.Query("SELECT * FROM state_meta WHERE key NOT GLOB 'gateway.retired_session*'"), notes)
	}
}

// What is dropped from a note is dropped while the lock proves that it is in use: not with what goes later.
func TestAFileInUseIsDroppedUnderTheProof(t *testing.T) {
	h, home, files := homeWithFiles(t)
	home.Exec(nameBoth)
	c := lookingAt(t, h)
	do, err := c.ask(t.Context(), c.look)
	require.NoError(t, err)
	require.Empty(t, do.unlink)
	home.Exec("DELETE FROM messages")
	held, err := c.remove(t.Context(), do)
	require.NoError(t, err)
	assert.False(t, held)
	assert.Len(t, home.Query("SELECT * FROM state_meta WHERE key NOT GLOB 'gateway.retired_session*'"), 2)
	require.NoError(t, c.look.Again(t.Context()))
	require.NoError(t, c.collect(t.Context()))
	for _, file := range files {
		assert.Equal(t, cleanup.NamedGone, h.folder.State(file))
	}
	assert.Empty(t, home.Query("SELECT * FROM state_meta WHERE key NOT GLOB 'gateway.retired_session*'"))
}

// A cancel is heard before each file.
func TestRemovingFilesHearsACancel(t *testing.T) {
	h, _, files := homeWithFiles(t)
	c := lookingAt(t, h)
	tx, _, err := c.look.Begin(t.Context(), time.Second)
	require.NoError(t, err)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, c.removeIn(ended, tx, nil, files), context.Canceled)
	for _, file := range files {
		assert.Equal(t, cleanup.NamedRemovable, h.folder.State(file))
	}
}

// More files than one holding of the lock is for go a few at a time, or all in the last one; those of this very delete go first.
func TestManyFilesGoAFewAtATime(t *testing.T) {
	h, home, _ := homeWithFiles(t)
	var names []string
	for i := range 2*unlinksPerLock + 5 {
		names = append(names, fmt.Sprintf("cache/spillover/%d-call", i))
		home.Write(names[i], "x")
	}
	list, err := json.Marshal(names)
	require.NoError(t, err)
	_, err = home.Open().Exec("INSERT INTO state_meta VALUES ('sidecar.spill.v1.02', ?)", `{"files":`+string(list)+`,"session_ids":["V"]}`)
	require.NoError(t, err)
	c := lookingAt(t, h)
	c.own = []statedb.Media{{Path: names[500]}, {Path: names[7]}}
	do, err := c.ask(t.Context(), c.look)
	require.NoError(t, err)
	require.Len(t, do.unlink, len(names)+2)
	assert.ElementsMatch(t, []string{names[500], names[7]}, []string{do.unlink[0].Path, do.unlink[1].Path})
	require.NoError(t, c.removeUnderLock(t.Context()))
	assert.Len(t, c.gone, len(names)+2, "there may be no second turn")
	require.NoError(t, c.collect(t.Context()))
	assert.Empty(t, home.Query("SELECT * FROM state_meta WHERE key NOT GLOB 'gateway.retired_session*'"))
	left, err := h.folder.Spilled()
	require.NoError(t, err)
	assert.Empty(t, left)
}

// As long as nobody could tell whether a file of this very delete may go, it is pending; one of another is not. A home that
// is known to have one pending has it until it was looked at.
func TestOwnFilesOfABusyStoreArePending(t *testing.T) {
	h, home, files := homeWithFiles(t)
	d := New(sidecartest.Log(t))
	own := []statedb.Media{{Path: files[1].Path, SessionID: "V"}, {Path: "cache/spillover/absent", SessionID: "W"}}
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	report, stuck := d.process(t.Context(), h, nil)
	assert.Empty(t, stuck)
	assert.True(t, report.Complete(), "it can wait")
	report, stuck = d.process(t.Context(), h, own)
	assert.True(t, anyOwn(stuck, own))
	assert.Equal(t, []cleanup.Pending{failed("V")}, report.Pending)
	report, stuck = d.process(t.Context(), h, nil)
	assert.Empty(t, stuck)
	assert.Equal(t, []cleanup.Pending{failed("V")}, report.Pending)
	assert.Equal(t, []cleanup.Pending{failed("V")}, d.Reports()[h.path].Pending)
	holder.Release()
	report, stuck = d.process(t.Context(), h, nil)
	assert.Empty(t, stuck)
	assert.True(t, report.Complete())
	assert.Empty(t, d.Reports())
}

// A failure tells as little about them as a busy store does. What is held, or too young, is no failure.
func TestOwnFilesOfAFailedCollectionArePending(t *testing.T) {
	h, home, files := homeWithFiles(t)
	d := New(sidecartest.Log(t))
	own := []statedb.Media{{Path: files[0].Path, SHA256: mediaHash, SessionID: "V"}, {Path: files[1].Path, SessionID: "V"}}
	home.Exec(nameBoth)
	_, stuck := d.process(t.Context(), h, own)
	assert.Empty(t, stuck)
	home.Exec("DELETE FROM messages", `CREATE TRIGGER no BEFORE DELETE ON state_meta BEGIN SELECT raise(ABORT, 'no'); END`)
	_, stuck = d.process(t.Context(), h, own)
	assert.Empty(t, stuck, "the file is gone, only its note is there")
	h, home, _ = homeWithFiles(t)
	own = []statedb.Media{{Path: "cache/spillover/a.txt", SessionID: "V"}}
	home.Exec("ALTER TABLE state_meta RENAME TO x", "CREATE VIEW state_meta AS SELECT key, value, abs(-9223372036854775808) AS z FROM x WHERE z")
	_, stuck = d.process(t.Context(), h, own)
	assert.Equal(t, []stuckFile{{"cache/spillover/a.txt", "V"}}, stuck)
}

// The question who names a file is remembered for as long as the answer holds.
func TestWhoNamesAFileIsRemembered(t *testing.T) {
	h, home, _ := homeWithFiles(t)
	d := New(sidecartest.Log(t))
	home.Exec(nameBoth)
	for range 2 {
		_, err := d.collectNamed(t.Context(), h, nil)
		require.NoError(t, err)
		assert.Len(t, d.sightings[home.Path], 1)
	}
	home.Exec("DELETE FROM messages")
	_, err := d.collectNamed(t.Context(), h, nil)
	require.NoError(t, err)
	assert.Empty(t, d.sightings[home.Path])
}

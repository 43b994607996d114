package deletion_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// keptWay is a way to delete that can be taken back.
type keptWay struct{ way }

func (w keptWay) params(home *sidecartest.Home) map[string]any {
	params := w.way.params(home)
	params["keep_days"] = 7
	return params
}

// entriesOf asks what can be restored: the operation of each delete, by the ids that it took.
func entriesOf(t *testing.T, p *sidecartest.Process, home *sidecartest.Home) map[string]string {
	t.Helper()
	p.Request("list", "trash.list", map[string]any{"profile_home": home.Path})
	reply := p.Reply()
	require.Nil(t, reply.Error, p.Stderr())
	var listing struct {
		Entries []struct {
			OperationID string `json:"operation_id"`
			IDs         []string
		}
		Unreadable []string
	}
	require.NoError(t, json.Unmarshal(reply.Result, &listing))
	require.Empty(t, listing.Unreadable)
	entries := map[string]string{}
	for _, e := range listing.Entries {
		ids := strings.Join(e.IDs, ",")
		require.NotContains(t, entries, ids, "kept twice")
		entries[ids] = e.OperationID
	}
	return entries
}

// restored asks for a conversation back; nothing where it does not come.
func restored(t *testing.T, p *sidecartest.Process, home *sidecartest.Home, operation string) (ids map[string]string, why string) {
	t.Helper()
	p.Request("restore", "trash.restore", map[string]any{"profile_home": home.Path, "operation_id": operation})
	reply := p.Reply()
	if reply.Error != nil {
		return nil, condition(t, reply)
	}
	var result struct{ Restored map[string]string }
	require.NoError(t, json.Unmarshal(reply.Result, &result))
	return result.Restored, ""
}

func trashFiles(t *testing.T, home *sidecartest.Home) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(home.Path, "trash"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTrashCrashAtEveryPoint kills the real process at each point of a kept delete: each conversation is in the store, or it is gone
// and can be restored, and never both. What was left half written goes at the next use (contract 10.2).
func TestTrashCrashAtEveryPoint(t *testing.T) {
	points := slices.Concat(faultpoint.OfTrash(), []faultpoint.Point{
		faultpoint.WriteLockHeld, faultpoint.PlanDecided, faultpoint.RowsChanged, faultpoint.ManifestDurable, faultpoint.ReceiptWritten,
		faultpoint.BeforeCommit, faultpoint.AfterCommit, faultpoint.BeforeUnlink, faultpoint.BeforeLocksAreReleased,
	})
	for _, w := range ways {
		if !w.byUser() {
			continue
		}
		for _, point := range points {
			t.Run(fmt.Sprintf("%s,%s", w.name, point), func(t *testing.T) {
				t.Parallel()
				keptWay{w}.crashAt(t, point)
			})
		}
	}
}

func (w keptWay) crashAt(t *testing.T, point faultpoint.Point) {
	home := w.home(t, false)
	requireKilled(t, w.killAt(point), w.method, w.params(home))

	fates := w.requireAllOrNothing(t, home)
	next := sidecartest.Start(t, sidecartest.Plain)
	next.Handshake()
	entries := w.requireEither(t, next, home, fates)
	require.True(t, next.Delete(home, "unrelated").OK)
	require.Equal(t, entries, w.requireEither(t, next, home, fates))
	require.Len(t, trashFiles(t, home), len(entries), "what was left goes at the first use")

	next.Request(2, w.method, w.params(home))
	for reply := next.Reply(); reply.Result == nil; reply = next.Reply() {
		require.Nil(t, reply.Error)
	}
	all := slices.Repeat([]fate{retired}, len(fates))
	require.Equal(t, all, w.requireAllOrNothing(t, home))
	for _, operation := range w.requireEither(t, next, home, all) {
		_, why := restored(t, next, home, operation)
		require.Empty(t, why)
	}
	w.requireBack(t, home)
	require.Empty(t, trashFiles(t, home))
}

// requireEither holds that what is gone can be restored, and what is there cannot.
func (w keptWay) requireEither(t *testing.T, p *sidecartest.Process, home *sidecartest.Home, fates []fate) map[string]string {
	t.Helper()
	entries := entriesOf(t, p, home)
	gone := []string{}
	for i, ids := range w.together {
		if fates[i] == retired {
			gone = append(gone, strings.Join(ids, ","))
		}
	}
	require.ElementsMatch(t, gone, slices.Collect(maps.Keys(entries)))
	return entries
}

// requireBack holds that each conversation is there once, under new ids alone.
func (w keptWay) requireBack(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	home.RequireSound()
	var want []string
	for _, id := range slices.Concat(w.together...) {
		want = append(want, "zarquon of "+id)
	}
	assert.ElementsMatch(t, want, home.Query("SELECT content FROM messages WHERE session_id LIKE 'restored-%'"))
	assert.Empty(t, home.Query("SELECT id FROM sessions WHERE id IN ('P', 'D') OR (id = 'Q' AND ?)", slices.Contains(w.ids, "Q")))
	found := home.Query("SELECT session_id FROM messages WHERE id IN (SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'zarquon')")
	assert.Len(t, slices.DeleteFunc(found, func(id string) bool { return !strings.HasPrefix(id, "restored-") }), len(want))
}

// TestACrashWhereNotAllWasThere: the entry of a delete that named a session that was not there is known for a trace by the rows it has.
func TestACrashWhereNotAllWasThere(t *testing.T) {
	for _, w := range ways[:2] {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			home := w.home(t, false)
			home.Exec(`INSERT INTO sessions (id, source, model_config, started_at) VALUES ('E', 'cli', '{"_delegate_from": "X"}', 5)`)
			requireKilled(t, "SIDECAR_FAULT_KILL=trash_durable", "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "X", "keep_days": 7})
			files := trashFiles(t, home)
			require.Len(t, files, 1)
			next := sidecartest.Start(t, sidecartest.Plain)
			next.Handshake()
			require.Empty(t, entriesOf(t, next, home))
			_, why := restored(t, next, home, strings.TrimSuffix(files[0], ".ndjson.gz"))
			require.Equal(t, "not_found", why)
			require.Empty(t, trashFiles(t, home))
			require.Len(t, home.Query("SELECT id FROM sessions WHERE model_config LIKE '%\"X\"%'"), 1)
		})
	}
}

// TestRestoreCrashAtEveryPoint kills the real process at each point of a restore: the conversation is in the trash, or it is back, and
// never comes back twice (contract 10.5).
func TestRestoreCrashAtEveryPoint(t *testing.T) {
	for _, w := range ways[:2] {
		for _, point := range slices.Concat(faultpoint.OfRestore(), []faultpoint.Point{
			faultpoint.LockHeld, faultpoint.WriteLockHeld, faultpoint.BeforeLocksAreReleased,
		}) {
			t.Run(fmt.Sprintf("%s,%s", w.name, point), func(t *testing.T) {
				t.Parallel()
				keptWay{w}.restoreCrashAt(t, point)
			})
		}
	}
}

func (w keptWay) restoreCrashAt(t *testing.T, point faultpoint.Point) {
	home := w.home(t, false)
	first := sidecartest.Start(t, sidecartest.Plain)
	first.Handshake()
	require.True(t, first.Delete(home, "P", map[string]any{"keep_days": 7}).OK)
	operation := entriesOf(t, first, home)["P,D"]
	// The one that is killed, and that has seen no trash before; first has seen it all.
	requireKilled(t, "SIDECAR_FAULT_KILL="+string(point), "trash.restore", map[string]any{"profile_home": home.Path, "operation_id": operation})

	home.RequireSound()
	back := point == faultpoint.RestoreDone || point == faultpoint.BeforeLocksAreReleased
	entries := entriesOf(t, first, home)
	if back {
		w.requireBack(t, home)
		require.Empty(t, entries)
		if point == faultpoint.RestoreDone {
			require.Len(t, trashFiles(t, home), 1)
		}
	} else {
		require.Empty(t, home.Query("SELECT id FROM sessions WHERE id LIKE 'restored-%'"))
		require.Equal(t, map[string]string{"P,D": operation}, entries)
	}
	_, why := restored(t, first, home, operation)
	if back {
		require.Equal(t, "not_found", why)
	} else {
		require.Empty(t, why)
	}
	w.requireBack(t, home)
	require.Empty(t, trashFiles(t, home))
	_, why = restored(t, first, home, operation)
	require.Equal(t, "not_found", why)
	w.requireBack(t, home)
}

// TestARestoreThatLeavesItsEntry: what came back and was deleted again does not come back once more by an entry that a crash left. On
// the canonical path the new ids are fenced.
func TestARestoreThatLeavesItsEntry(t *testing.T) {
	for _, w := range ways[:2] {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			home := w.home(t, false)
			p := sidecartest.Start(t, sidecartest.Plain)
			p.Handshake()
			require.True(t, p.Delete(home, "P", map[string]any{"keep_days": 7}).OK)
			operation := entriesOf(t, p, home)["P,D"]
			name := trashFiles(t, home)[0]
			entry, err := os.ReadFile(filepath.Join(home.Path, "trash", name))
			require.NoError(t, err)
			ids, why := restored(t, p, home, operation)
			require.Empty(t, why)
			require.True(t, p.Delete(home, ids["P"]).OK)
			home.Write("trash/"+name, string(entry)) // as a backup would put it back
			_, why = restored(t, p, home, operation)
			if w.canonical {
				assert.Equal(t, "not_found", why)
				assert.Empty(t, home.Query("SELECT id FROM sessions WHERE id LIKE 'restored-%'"))
			} else {
				assert.Empty(t, why, "nothing is left there that could tell")
			}
			home.RequireSound()
		})
	}
}

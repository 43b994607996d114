package deletion_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// waitingAt starts a sidecar that waits at a point until go is called.
func waitingAt(t *testing.T, point faultpoint.Point, more ...string) (p *sidecartest.Process, reached, pass func()) {
	t.Helper()
	folder := t.TempDir()
	p = sidecartest.Start(t, sidecartest.FaultPoints,
		sidecartest.Env(append([]string{"SIDECAR_FAULT_DIR=" + folder, "SIDECAR_FAULT_WAIT=" + string(point)}, more...)...))
	p.Handshake()
	base := filepath.Join(folder, string(point))
	return p, func() { waitFor(t, base+".reached") }, func() { require.NoError(t, os.WriteFile(base+".go", nil, 0o600)) }
}

// theEntry is what the one entry in the trash holds.
func theEntry(t *testing.T, home *sidecartest.Home) string {
	t.Helper()
	names := trashFiles(t, home)
	require.Len(t, names, 1)
	file, err := os.Open(filepath.Join(home.Path, "trash", names[0]))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(zip)
	require.NoError(t, err)
	return string(text)
}

// TestAnEntryThatIsNoLongerTrue is written anew under the lock, whatever of it has changed since: a title alone, which no message tells
// of, or a message. What others wrote of other sessions is no reason to (contract 10.1).
func TestAnEntryThatIsNoLongerTrue(t *testing.T) {
	for _, c := range []struct {
		name, change, want string
		again              bool
	}{
		{"a title", "UPDATE sessions SET title = 'a late title' WHERE id = 'P'", `"title":"a late title"`, true},
		{"a message", "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('P', 'user', 'a late word', 9)", `"a late word"`, true},
		{"another session", "INSERT INTO sessions (id, source, started_at) VALUES ('Q', 'cli', 9)", `"zarquon"`, false},
		{"nothing", "", `"zarquon"`, false},
	} {
		for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				home := sidecartest.NewHome(t)
				home.Create(schema, keptSession)
				more := []string{}
				if !c.again {
					more = append(more, "SIDECAR_FAULT_KILL=trash_written#2") // who writes it anew does not come back
				}
				p, reached, pass := waitingAt(t, faultpoint.TrashDurable, more...)
				p.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "P", "keep_days": 7})
				reached()
				before := theEntry(t, home)
				home.Exec(c.change)
				pass()
				var result sidecartest.DeleteResult
				require.NoError(t, json.Unmarshal(p.Reply().Result, &result))
				require.True(t, result.OK, result.Detail)
				after := theEntry(t, home)
				require.Contains(t, after, c.want)
				require.Equal(t, c.again, before != after)
			})
		}
	}
}

// TestACancelledRestore changes nothing, until its commit begins.
func TestACancelledRestore(t *testing.T) {
	for _, point := range []faultpoint.Point{faultpoint.WriteLockHeld, faultpoint.RestoreFilled} {
		for _, schema := range []string{fixtures.LegacySchema, fixtures.RuntimeSchema} {
			t.Run(string(point), func(t *testing.T) {
				t.Parallel()
				home := sidecartest.NewHome(t)
				home.Create(schema, keptSession)
				first := sidecartest.Start(t, sidecartest.Plain)
				first.Handshake()
				require.True(t, first.Delete(home, "P", map[string]any{"keep_days": 7}).OK)
				operation := entriesOf(t, first, home)["P"]
				before := home.Tables()
				p, reached, pass := waitingAt(t, point)
				p.Request("back", "trash.restore", map[string]any{"profile_home": home.Path, "operation_id": operation})
				reached()
				p.Request("cancel", "rpc.cancel", map[string]any{"id": "back"})
				require.Nil(t, p.Reply().Error)
				pass()
				require.Equal(t, "cancelled", condition(t, p.Reply()))
				require.Equal(t, before, home.Tables())
				ids, why := restored(t, p, home, operation)
				require.Empty(t, why)
				require.Contains(t, ids, "P")
			})
		}
	}
}

// TestAKeptDeleteIsNoErasedOne, whatever else is erased after it (contract 10.3).
func TestAKeptDeleteIsNoErasedOne(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, keptSession, `INSERT INTO sessions (id, source, started_at) VALUES ('Q', 'cli', 1), ('R', 'cli', 1)`)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	erase := p.Delete(home, "P", map[string]any{"keep_days": 7, "purge_index": true}).Erase
	require.NotNil(t, erase)
	assert.Equal(t, "kept_until", erase.Pages)
	assert.Equal(t, "purged", erase.Indexes)
	p.Request("bulk", "state_db.delete_sessions", map[string]any{
		"profile_home": home.Path, "session_ids": []string{"Q", "nobody"}, "keep_days": 1, "purge_index": true,
	})
	reply := p.Reply()
	for ; reply.Result == nil; reply = p.Reply() {
		require.Nil(t, reply.Error)
	}
	assert.Equal(t, 1, strings.Count(string(reply.Result), `"pages":"kept_until","kept_until":`))
	assert.Equal(t, 1, strings.Count(string(reply.Result), `"pages":"this_delete"`), "nothing of it was kept")
	assert.Equal(t, "this_delete", p.Delete(home, "R", map[string]any{"purge_index": true}).Erase.Pages)
}

// TestTheStartTidiesTheTrash of the homes that the handshake names: an entry that never counted goes without any call.
func TestTheStartTidiesTheTrash(t *testing.T) {
	for _, name := range []string{"base_home", "watch"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := sidecartest.NewHome(t)
			home.Create(fixtures.LegacySchema, keptSession)
			requireKilled(t, "SIDECAR_FAULT_KILL=trash_durable", "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "P", "keep_days": 7})
			require.Len(t, trashFiles(t, home), 1)
			next := sidecartest.Start(t, sidecartest.Plain)
			next.Handshake(handshakeNaming(t, name, home))
			require.Eventually(t, func() bool { return len(trashFiles(t, home)) == 0 }, time.Minute, 5*time.Millisecond)
			require.Len(t, home.Query("SELECT id FROM sessions"), 1)
		})
	}
}

func handshakeNaming(t *testing.T, name string, home *sidecartest.Home) string {
	t.Helper()
	value := any(home.Path)
	if name == "watch" {
		value = []string{home.Path}
	}
	text, err := json.Marshal(map[string]any{"rpc_version": 1, name: value})
	require.NoError(t, err)
	return string(text)
}

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

func TestMain(m *testing.M) { sidecartest.Main(m) }

// family is the conversation that the crash tests delete: P delegated to D. LIVE stays.
const family = `
INSERT INTO sessions (id, source, model_config, parent_session_id, started_at) VALUES
 ('P', 'cli', NULL, NULL, 1), ('D', 'cli', '{"_delegate_from": "P"}', 'P', 2), ('LIVE', 'cli', NULL, NULL, 3);
INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', 'zarquon of ' || id, 1 FROM sessions;`

// older is a manifest of an earlier delete that names a session that is gone and one that lives: it is rewritten before
// the delete proper begins, and passes the points of a durable write first.
const older = ".cleanup_manifest_older.json"

func homeForCrashes(t *testing.T, withOlder bool) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, family)
	home.Artifacts("P", "D", "LIVE")
	if withOlder {
		home.Artifacts("gone")
		home.Write("sessions/"+older, `["gone", "LIVE"]`)
	}
	return home
}

// TestCrashAtEveryPoint kills the real process at each point and looks: all of the delete or none of it, and the next
// start finishes the files (contract 9).
func TestCrashAtEveryPoint(t *testing.T) {
	for _, point := range faultpoint.All() {
		crashAt(t, point, true)
		if point != faultpoint.ManifestRewritten { // without an older manifest there is nothing to rewrite
			crashAt(t, point, false)
		}
	}
}

func crashAt(t *testing.T, point faultpoint.Point, withOlder bool) {
	t.Run(fmt.Sprintf("%s,older=%v", point, withOlder), func(t *testing.T) {
		t.Parallel()
		home := homeForCrashes(t, withOlder)
		p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL="+string(point)))
		p.Handshake()
		p.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "P"})
		require.Equal(t, -1, p.Wait(), "the process passed the point, or never came to it: %s", p.Stderr())
		_, answered := p.TryLine(0)
		require.False(t, answered, "it answered before it was killed")

		requireAllOrNothing(t, home)
		requireNextStartFinishes(t, home)
		if withOlder {
			assert.Equal(t, []string{older}, home.Manifests())
		} else {
			assert.Empty(t, home.Manifests())
		}
	})
}

func requireAllOrNothing(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	home.RequireSound()
	ids := home.Query("SELECT id FROM sessions ORDER BY id")
	messages := home.Query("SELECT DISTINCT session_id FROM messages ORDER BY 1")
	assert.Equal(t, ids, messages)
	if len(ids) == 3 {
		requireArtifacts(t, home, "P", "D", "LIVE")
		return
	}
	assert.Equal(t, []string{"LIVE"}, ids)
	requireArtifacts(t, home, "LIVE")
	if left := artifactsOf(home, "P", "D"); len(left) > 0 {
		require.NotEmpty(t, manifestsNaming(t, home, "P"), "rows are gone, files are not, and no manifest tells: %v", left)
	}
}

// requireNextStartFinishes lets a new process delete something else: whatever the crash left is done first. Where the
// conversation survived, deleting it again works.
func requireNextStartFinishes(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	survived := len(home.Query("SELECT id FROM sessions WHERE id = 'P'")) > 0
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	result := p.Delete(home, "another")
	require.True(t, result.OK, result.Detail)
	if survived {
		requireArtifacts(t, home, "P", "D", "LIVE")
		result = p.Delete(home, "P")
		require.True(t, result.OK, result.Detail)
		require.Equal(t, []string{"P", "D"}, result.DeletedIDs)
	}
	assert.Empty(t, artifactsOf(home, "P", "D", "gone"))
	requireArtifacts(t, home, "LIVE")
	home.RequireSound()
}

func artifactsOf(home *sidecartest.Home, ids ...string) []string {
	var names []string
	for _, id := range ids {
		for _, name := range home.Sessions() {
			if name == id+".json" || name == id+".jsonl" || name == "session_"+id+".json" || name == "request_dump_"+id+"_1.json" {
				names = append(names, name)
			}
		}
	}
	return names
}

func requireArtifacts(t *testing.T, home *sidecartest.Home, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.Len(t, artifactsOf(home, id), 4, "artifacts of %s", id)
	}
}

func manifestsNaming(t *testing.T, home *sidecartest.Home, id string) []string {
	t.Helper()
	var found []string
	for _, name := range home.Manifests() {
		text, err := os.ReadFile(filepath.Join(home.Path, "sessions", name))
		require.NoError(t, err)
		var ids []string
		if json.Unmarshal(text, &ids) == nil {
			for _, named := range ids {
				if named == id {
					found = append(found, name)
				}
			}
		}
	}
	return found
}

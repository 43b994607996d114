package deletion_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// family is the conversation that the crash tests delete: P delegated to D. LIVE stays.
const family = `
INSERT INTO sessions (id, source, model_config, parent_session_id, started_at) VALUES
 ('P', 'cli', NULL, NULL, 1), ('D', 'cli', '{"_delegate_from": "P"}', 'P', 2), ('LIVE', 'cli', NULL, NULL, 3);
INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', 'zarquon of ' || id, 1 FROM sessions;`

// another is a second conversation, for deletes of many.
const another = `
INSERT INTO sessions (id, source, started_at) VALUES ('Q', 'cli', 4);
INSERT INTO messages (session_id, role, content, timestamp) VALUES ('Q', 'user', 'zarquon of Q', 1);`

// history is what a newer Agent's runtime keeps about each session: a settled request with its answer, a worker that has
// ended, a mutation receipt, settings, and a route.
const history = `
INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json,
  payload_digest, intent, status, owner_epoch)
  SELECT 'a' || id, 'r', 'p', id, '["x"]', json_object('text', 'zarquon of ' || id), 'd', 'queue', 'terminal', 1 FROM sessions;
INSERT INTO worker_executions SELECT 'e' || id, id, 1, 1, 'turn', 'd', 'terminal' FROM sessions;
INSERT INTO worker_receipts SELECT 'e' || id, 1, 'd', json_quote('zarquon of ' || id) FROM sessions;
INSERT INTO state_meta
  SELECT 'gateway.admission.result.v1.a' || id,
    json_object('result', json_object('final_response', 'done', 'messages', json_array('zarquon of ' || id))) FROM sessions
  UNION ALL SELECT 'gateway.mutation.v1.' || id, json_object('result', json_object('session_id', id, 'title', 'zarquon of ' || id)) FROM sessions
  UNION ALL SELECT 'gateway.api.settings.v1.' || id, json_quote('zarquon of ' || id) FROM sessions;
INSERT INTO gateway_routing (session_key, entry_json, updated_at) SELECT id, json_object('session_id', id), 1 FROM sessions;`

// older is a manifest of an earlier delete that names a session that is gone and one that lives: it is rewritten before
// the delete proper begins, and passes the points of a durable write first.
const older = ".cleanup_manifest_older.json"

func homeForCrashes(t *testing.T, withOlder bool) *sidecartest.Home {
	t.Helper()
	return homeWith(t, withOlder, []string{"P", "D", "LIVE"}, fixtures.LegacySchema, family)
}

func homeWith(t *testing.T, withOlder bool, ids []string, statements ...string) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(statements...)
	home.Artifacts(ids...)
	if withOlder {
		home.Artifacts("gone")
		home.Write("sessions/"+older, `["gone", "LIVE"]`)
	}
	return home
}

// fate is what became of a conversation.
type fate string

const (
	stands  fate = "there, all of it"
	retired fate = "gone, all of it"
)

// What the ledger holds of a session while it is there, and what it keeps of one that is gone: one row each.
var (
	whileThere = []string{
		"session_admissions WHERE target_session_id",
		"worker_executions WHERE session_id",
		"worker_receipts WHERE substr(execution_id, 2)",
		"gateway_routing WHERE session_key",
		"state_meta WHERE key LIKE 'gateway.api.settings.v1.%' AND substr(key, 25)",
		"state_meta WHERE instr(value, 'zarquon') AND key LIKE 'gateway.admission.result.v1.%' AND substr(key, 30)",
		"state_meta WHERE instr(value, 'zarquon') AND key LIKE 'gateway.mutation.v1.%' AND substr(key, 21)",
	}
	onceGone = []string{
		"state_meta WHERE key LIKE 'gateway.retired_session.v1.%' AND substr(key, 28)",
		"state_meta WHERE key LIKE 'gateway.terminal_admission.v1.%' AND substr(key, 32)",
		"state_meta WHERE key LIKE 'gateway.terminal_identity.v1.%' AND substr(value, 3, length(value) - 3)",
		"state_meta WHERE key LIKE 'gateway.terminal_worker.v1.%' AND substr(key, 29)",
	}
)

// fateOf looks at every row and record that a conversation has or leaves. Anything but all of it or none of it fails the test.
func fateOf(t *testing.T, home *sidecartest.Home, canonical bool, ids ...string) fate {
	t.Helper()
	there, gone := []string{"sessions WHERE id", "(SELECT DISTINCT session_id FROM messages) WHERE session_id"}, []string{}
	if canonical {
		there, gone = append(there, whileThere...), onceGone
	}
	list := " IN ('" + strings.Join(ids, "','") + "')"
	var counts, whole, none []string
	for _, from := range there {
		counts, whole, none = append(counts, "(SELECT count(*) FROM "+from+list+")"), append(whole, fmt.Sprint(len(ids))), append(none, "0")
	}
	for _, from := range gone {
		counts, whole, none = append(counts, "(SELECT count(*) FROM "+from+list+")"), append(whole, "0"), append(none, fmt.Sprint(len(ids)))
	}
	switch home.Query("SELECT " + strings.Join(counts, ", "))[0] {
	case strings.Join(whole, "|"):
		return stands
	case strings.Join(none, "|"):
		requireNoWord(t, home, ids)
		return retired
	}
	require.Fail(t, "a conversation is half there", "%v: %v", ids, home.Query("SELECT "+strings.Join(counts, ", ")))
	return ""
}

// requireNoWord looks for what the sessions said in every text of every table.
func requireNoWord(t *testing.T, home *sidecartest.Home, ids []string) {
	t.Helper()
	var texts strings.Builder
	for _, rows := range home.Tables() {
		for _, row := range rows {
			for _, value := range row {
				if text, ok := value.(string); ok {
					texts.WriteString(text + "\n")
				}
			}
		}
	}
	for _, id := range ids {
		require.NotContains(t, texts.String(), "zarquon of "+id)
	}
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

// requireFilesFit checks the files of a conversation: all of them beside its rows; without its rows, none that a manifest
// does not tell.
func requireFilesFit(t *testing.T, home *sidecartest.Home, f fate, ids ...string) {
	t.Helper()
	if f == stands {
		requireArtifacts(t, home, ids...)
		return
	}
	for _, id := range ids {
		if left := artifactsOf(home, id); len(left) > 0 {
			assert.True(t, manifestNames(t, home, id), "rows are gone, files are not, and no manifest tells: %v", left)
		}
	}
}

func manifestNames(t *testing.T, home *sidecartest.Home, id string) bool {
	t.Helper()
	return slices.ContainsFunc(home.Manifests(), func(name string) bool {
		text, err := os.ReadFile(filepath.Join(home.Path, "sessions", name))
		require.NoError(t, err)
		var ids []string
		return json.Unmarshal(text, &ids) == nil && slices.Contains(ids, id)
	})
}

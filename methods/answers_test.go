package methods

import (
	"encoding/json"
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

// wrecks are homes that nothing can be done with, or not all.
var wrecks = map[string]func(t *testing.T, home *sidecartest.Home){
	"no home":   func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.RemoveAll(home.Path)) },
	"no store":  func(*testing.T, *sidecartest.Home) {},
	"no folder": func(t *testing.T, home *sidecartest.Home) { replaceByFile(t, home.Path) },
	"a folder for a store": func(t *testing.T, home *sidecartest.Home) {
		require.NoError(t, os.Mkdir(home.Store(), 0o700))
	},
	"a link to elsewhere": func(t *testing.T, home *sidecartest.Home) {
		require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "state.db"), home.Store()))
	},
	"no database": func(_ *testing.T, home *sidecartest.Home) {
		home.Write("state.db", "this is no database, but it is long")
	},
	"nothing":       func(_ *testing.T, home *sidecartest.Home) { home.Create("SELECT 1") },
	"no guards":     changed(fixtures.RuntimeSchema, "DROP TABLE compression_locks"),
	"half a ledger": changed(fixtures.RuntimeSchema, "DROP TABLE worker_receipts"),
	"other columns": changed(fixtures.RuntimeSchema, "ALTER TABLE state_meta RENAME COLUMN value TO other"),
	"a foreign index": func(_ *testing.T, home *sidecartest.Home) {
		home.Create(fixtures.RuntimeSchema, usedSession)
		home.ForeignIndex("cjk")
	},
	"before the ledger": changed(fixtures.LegacySchema, usedSession),
	"in use": changed(fixtures.RuntimeSchema, usedSession,
		"INSERT INTO compression_locks VALUES ('x', 'somebody', 1, 4102444800)"),
	"in use, before the ledger": changed(fixtures.LegacySchema, usedSession,
		"INSERT INTO compression_locks VALUES ('x', 'somebody', 1, 4102444800)"),
	"history":              changed(fixtures.LegacySchema, usedSession, "INSERT INTO state_meta VALUES ('gateway.local_policy.v1:x', '{}')"),
	"a bad policy":         changed(fixtures.RuntimeSchema, usedSession, "INSERT INTO state_meta VALUES ('gateway.local_policy.v1:x', '{}')"),
	"an unreadable policy": changed(fixtures.RuntimeSchema, usedSession, "INSERT INTO state_meta VALUES ('gateway.local_policy.v1:x', '{')"),
	"a busy local conversation": changed(fixtures.RuntimeSchema, usedSession,
		`INSERT INTO state_meta VALUES ('gateway.local_policy.v1:y', '{"session_id":"y","lineage":["x","y"]}')`),
	"two that continue one": changed(fixtures.RuntimeSchema, usedSession, "UPDATE sessions SET end_reason = 'compression'",
		"INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('a', 'cli', 'x', 1), ('b', 'cli', 'x', 1)"),
	"an odd payload": changed(fixtures.RuntimeSchema, usedSession, `INSERT INTO session_admissions (admission_id, request_id, principal_id,
		target_session_id, lineage_json, payload_json, payload_digest, intent, status, owner_epoch)
		VALUES ('a', 'r', 'p', 'x', '[]', '[]', '', '', 'terminal', 1)`),
	"a receipt": changed(fixtures.LegacySchema, receiptsTable, "INSERT INTO session_deletion_receipts VALUES (1, 'o', '{}')"),
	"a receipt that says nothing": changed(fixtures.LegacySchema, receiptsTable, "INSERT INTO session_deletion_receipts VALUES (1, '"+
		strings.Repeat("0", 32)+"', '[]')"),
	"receipts of another kind": changed(fixtures.LegacySchema, usedSession, "CREATE TABLE session_deletion_receipts (sequence INTEGER PRIMARY KEY)"),
	"retired":                  changed(fixtures.RuntimeSchema, "INSERT INTO state_meta VALUES ('gateway.retired_session.v1.x', '{}')"),
}

const usedSession = "INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)"

const receiptsTable = "CREATE TABLE session_deletion_receipts (sequence INTEGER PRIMARY KEY AUTOINCREMENT, " +
	"operation_id TEXT NOT NULL UNIQUE, deletion_json TEXT NOT NULL)"

func changed(schema string, statements ...string) func(*testing.T, *sidecartest.Home) {
	return func(_ *testing.T, home *sidecartest.Home) { home.Create(append([]string{schema}, statements...)...) }
}

func replaceByFile(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
}

// anyParams are good parameters for whatever a method must be given.
func anyParams(t *testing.T, m *method, home *sidecartest.Home) string {
	t.Helper()
	good := map[string]any{
		"profile_home": home.Path, "base_home": home.Path, "session_id": "x", "session_ids": []string{"x"}, "candidates": []string{"x"},
		"principal_id": "p", "request_id": "r", "session_key": "agent:main:1", "entry": map[string]string{"session_id": "x"},
		"operation_id": strings.Repeat("0", 32), "through_sequence": 7, "enabled": true, "to": filepath.Join(t.TempDir(), "export.json"),
	}
	params := map[string]any{}
	for _, name := range m.params().Schema().Required {
		require.Contains(t, good, name, "%s: the test needs a value", m.name)
		params[name] = good[name]
	}
	text, err := json.Marshal(params)
	require.NoError(t, err)
	return string(text)
}

// introducedBeside is a registry whose host named an Agent's folder that is gone since, or none.
func introducedBeside(t *testing.T, gone bool) *Registry {
	t.Helper()
	r, _ := newRegistry()
	params := `{"rpc_version":1}`
	agent := filepath.Join(t.TempDir(), "agent")
	if gone {
		require.NoError(t, os.Mkdir(agent, 0o700))
		params = `{"rpc_version":1,"agent_dir":"` + agent + `"}`
	}
	_, err := call(t, r, "runtime.handshake", params)
	require.NoError(t, err)
	if gone {
		require.NoError(t, os.Remove(agent))
	}
	return r
}

// answered are the reasons and conditions of a call's frames, wherever they stand in them.
func answered(t *testing.T, frames []string) (reasons []Reason) {
	t.Helper()
	for _, frame := range frames {
		var value any
		require.NoError(t, json.Unmarshal([]byte(frame), &value))
		require.NotContains(t, frame, "incident")
		for object := range sidecartest.Objects(value) {
			for _, name := range []string{"reason", "condition"} {
				if reason, ok := object[name].(string); ok {
					reasons = append(reasons, Reason(reason))
				}
			}
		}
	}
	return reasons
}

// What a method answers over stores of every kind is in its description, so that a host may go by that alone.
func TestEveryAnswerIsInTheDescription(t *testing.T) {
	told := map[string]describedMethod{}
	for _, m := range discover(t).Methods {
		told[m.Name] = m
	}
	seen := map[Reason]bool{}
	check := func(t *testing.T, r *Registry, method string, home *sidecartest.Home) {
		t.Helper()
		frames, _ := converse(t, r, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+anyParams(t, r.methods[method], home)+`}`)
		for _, reason := range answered(t, frames) {
			seen[reason] = true
			assert.Contains(t, told[method].Reasons, reason, method)
		}
		requireDescribedFrames(t, told[method], frames)
		requireDescribedResult(t, told[method], frames)
	}
	wrecked := func(t *testing.T, wreck string) *sidecartest.Home {
		t.Helper()
		home := sidecartest.NewHome(t)
		wrecks[wreck](t, home)
		return home
	}
	for wreck := range wrecks {
		t.Run(wreck, func(t *testing.T) {
			r := introducedBeside(t, false)
			defer r.Close()
			shared := wrecked(t, wreck)
			for _, method := range r.names() {
				switch {
				case !NeedsHandshake(method):
				case strings.Contains(method, "delete_") || strings.Contains(method, "sweep"):
					check(t, r, method, wrecked(t, wreck)) // what they remove, the others shall meet
				default:
					check(t, r, method, shared)
				}
			}
		})
	}
	t.Run("the Agent's folder is gone", func(t *testing.T) {
		r := introducedBeside(t, true)
		defer r.Close()
		for _, method := range r.names() {
			if NeedsHandshake(method) {
				check(t, r, method, wrecked(t, "before the ledger"))
			}
		}
	})
	for _, reason := range append(slices.Clone(deleteReasons), ReasonConversationIncomplete, ReasonReceiptsMissing, ReasonCursorInvalid) {
		switch reason {
		case ReasonStoreBusy, ReasonLockTimeout, ReasonManifestFailed, ReasonCleanupPending, ReasonPlanChanged:
			// these need another process, a folder that cannot be written, or an older look
		default:
			assert.True(t, seen[reason], "%s was not met", reason)
		}
	}
}

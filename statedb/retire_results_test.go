package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
)

// SQLite cuts the talk out before a result is read: nothing else may change by that, and nothing of the talk may slip through.
func TestResultsKeepEverythingButTheTalk(t *testing.T) {
	for stored, kept := range map[string]string{
		`{"result":{"n":[1E5,-0,1.50e-2,9007199254740993,12345678901234567890123],"messages":["zarquon"],"tools":1},"a":"\u00e9\/\ud83d\ude00"}`: `{"a":"é/😀","result":{"messages":[],"n":[1E5,-0,1.50e-2,9007199254740993,12345678901234567890123]}}`,
		`{"result":{"messages":["zarquon"],"messages":["zarquon"],"x":1}}`:                                                                       `{"result":{"messages":[],"x":1}}`,
		`{"result":{"messages":["zarquon"]},"result":{"last_reasoning":"zarquon","y":null}}`:                                                     `{"result":{"messages":[],"y":null}}`,
		`{"result":{"messages":["zarquon"],"\u006dessages":["zarquon"],"_turn_user_row":{"content":"zarquon"}}}`:                                 `{"result":{"messages":[]}}`,
		`{"result":{"messages":["zarquon"],"usage":NaN}}`:                                                                                        "",
		`{"result":["zarquon"]}`: "",
	} {
		home := newHome(t)
		home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('x', 'cli', 1)`,
			`INSERT INTO session_admissions (admission_id, request_id, principal_id, target_session_id, lineage_json, payload_json,
				payload_digest, intent, status, owner_epoch) VALUES ('a', 'r', 'p', 'x', '[]', '{}', 'd', 'i', 'terminal', 1)`)
		_, err := home.Open().Exec(`INSERT INTO state_meta VALUES ('gateway.admission.result.v1.a', ?)`, stored)
		require.NoError(t, err)
		tx := begin(t, home)
		_, err = remove(t, tx, "x")
		require.NoError(t, err, stored)
		require.NoError(t, tx.Commit())
		want := []string{kept}
		if kept == "" {
			want = nil
		}
		assert.ElementsMatch(t, want, home.Query(`SELECT value FROM state_meta WHERE key GLOB 'gateway.admission.result*'`), stored)
	}
}

package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/deletion"
	"session-sidecar/internal/sidecartest"
)

// The script is worth comparing with only as long as it does the same delete.
func TestThePlainScriptDeletesTheSame(t *testing.T) {
	for _, schema := range []string{legacySchema, runtimeSchema} {
		t.Run(schema, func(t *testing.T) {
			made := history{schema: schema, sessions: few}
			store := filepath.Join(t.TempDir(), "state.db")
			require.NoError(t, made.write(t.Context(), store))
			ours, theirs := sidecartest.NewHome(t), sidecartest.NewHome(t)
			for _, home := range []*sidecartest.Home{ours, theirs} {
				require.NoError(t, copyFile(store, home.Store()))
			}
			deleter := deletion.New(sidecartest.Log(t))
			defer deleter.Close()
			script, err := startPlain(t.Context())
			require.NoError(t, err)
			defer script.end()
			// A family of two, a chain in its middle, a branched parent, a reset one, and a local conversation where there is one.
			for _, i := range []int{0, 3, 6, 8, 11, 13} {
				id := made.id(20 + i)
				outcome, err := deleter.Delete(t.Context(), byUser, deletion.Request{ProfileHome: ours.Path, SessionID: id})
				require.NoError(t, err)
				_, err = (&home{path: theirs.Path}).plain(script, outcome.Plan.IDs())
				require.NoError(t, err)
			}
			theirs.RequireSound()
			for _, table := range []string{
				"sessions", "messages", "session_model_usage", "system_prompts", "state_meta", "gateway_routing", "conversation_generations",
			} {
				assert.Equal(t, contentOf(ours, table), contentOf(theirs, table), table)
			}
			if schema == runtimeSchema {
				for _, table := range []string{"session_admissions", "worker_executions", "worker_receipts"} {
					assert.Equal(t, contentOf(ours, table), contentOf(theirs, table), table)
				}
			}
			receipts := "SELECT count(*) FROM session_deletion_receipts"
			assert.Equal(t, ours.Query(receipts), theirs.Query(receipts))
		})
	}
}

func contentOf(home *sidecartest.Home, table string) []string {
	rows := home.Query("SELECT * FROM " + table + " ORDER BY 1, 2")
	at := regexp.MustCompile(`"retired_at":[0-9.]+`)
	for i, row := range rows {
		rows[i] = at.ReplaceAllString(row, `"retired_at":0`)
	}
	return rows
}

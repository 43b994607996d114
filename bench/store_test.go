package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/deletion"
	"session-sidecar/internal/sidecartest"
)

func TestStoresAreSoundAndAlwaysTheSame(t *testing.T) {
	for _, schema := range []string{legacySchema, runtimeSchema} {
		t.Run(schema, func(t *testing.T) {
			h := history{schema: schema, sessions: few}
			home := sidecartest.NewHome(t)
			require.NoError(t, h.write(t.Context(), home.Store()))
			again := filepath.Join(t.TempDir(), "state.db")
			require.NoError(t, h.write(t.Context(), again))
			assert.Equal(t, content(t, home.Store()), content(t, again))

			home.RequireSound()
			assert.Equal(t, []string{"600|600"}, home.Query("SELECT min(length(model_config)), max(length(model_config)) FROM sessions"))
			assert.Equal(t, []string{"400|400"}, home.Query("SELECT min(length(content)), max(length(content)) FROM messages"))
			assert.Equal(t, []string{"4|10|200"}, home.Query(`SELECT min(n), max(n), count(*) FROM
				(SELECT count(*) AS n FROM messages GROUP BY session_id)`))
			assert.Equal(t, []string{"wal"}, home.Query("PRAGMA journal_mode"))
			assert.Equal(t, []string{"0"}, home.Query("SELECT count(*) FROM sessions WHERE NOT json_valid(model_config)"))
			assert.Equal(t, []string{"1"}, home.Query(`SELECT count(*) FROM sessions
				WHERE model_config ->> '$._delegate_from' <> parent_session_id`), "one marker names another row than the parent")
			ids := h.family(3)
			assert.Equal(t, ids[1:], home.Query("SELECT id FROM sessions WHERE parent_session_id = ?", ids[0]))
		})
	}
}

func TestASparseStoreHasMessagesInOneRoundOfAHundred(t *testing.T) {
	h := history{schema: runtimeSchema, sessions: 2 * 100 * len(pattern), sparse: true}
	require.Equal(t, 2, h.families())
	home := sidecartest.NewHome(t)
	require.NoError(t, h.write(t.Context(), home.Store()))
	home.RequireSound()
	assert.Equal(t, []string{"4000|40"}, home.Query(`SELECT count(*), (SELECT count(DISTINCT session_id) FROM messages) FROM sessions`))
	assert.Equal(t, []string{"40"}, home.Query("SELECT count(*) FROM sessions WHERE message_count > 0"))
	for n := range h.families() {
		for _, id := range h.family(n) {
			assert.Equal(t, []string{"1"}, home.Query("SELECT count(*) > 0 FROM messages WHERE session_id = ?", id))
		}
	}
}

func TestLedgersAreWhole(t *testing.T) {
	h := history{schema: runtimeSchema, sessions: few}
	home := sidecartest.NewHome(t)
	require.NoError(t, h.write(t.Context(), home.Store()))
	assert.Equal(t, []string{"0"}, home.Query("SELECT count(*) FROM state_meta WHERE key LIKE 'gateway.%' AND key NOT LIKE "+
		"'gateway.api.conversation.%' AND NOT json_valid(value)"))
	for query, want := range map[string]string{
		"SELECT count(*) FROM session_admissions WHERE target_session_id = ?":                                                                                 "2",
		"SELECT count(*) FROM session_admissions a JOIN state_meta m ON m.key = 'gateway.admission.result.v1.' || a.admission_id WHERE target_session_id = ?": "2",
		"SELECT count(*) FROM worker_executions JOIN worker_receipts USING (execution_id) WHERE session_id = ?":                                               "2",
		"SELECT count(*) FROM state_meta WHERE key LIKE 'gateway.mutation.v1.%' AND value ->> '$.result.session_id' = ?":                                      "1",
		"SELECT count(*) FROM state_meta WHERE key = 'gateway.api.settings.v1.' || ?":                                                                         "1",
	} {
		assert.Equal(t, []string{want}, home.Query(query, h.family(4)[0]), query)
	}
	local := h.id(11)
	require.True(t, h.local(11))
	deleter := deletion.New(sidecartest.Log(t))
	defer deleter.Close()
	outcome, err := deleter.Delete(t.Context(), byUser, deletion.Request{ProfileHome: home.Path, SessionID: local})
	require.NoError(t, err, "the policy of a local conversation holds")
	assert.Equal(t, []string{local}, outcome.Plan.IDs())
}

func content(t *testing.T, path string) string {
	t.Helper()
	bytes, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(bytes)
}

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/deletion"
	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) { sidecartest.Main(m) }

const few = 200 // sessions: the pattern ten times

func TestBenchOfKeptDeletes(t *testing.T) {
	o := options{schemas: []string{legacySchema, runtimeSchema}, rounds: 2, folder: t.TempDir(), kept: 50}
	var out, progress bytes.Buffer
	require.NoError(t, bench(t.Context(), o, &out, &progress))
	assert.Contains(t, out.String(), "a conversation of 50 messages, runtime, 2 rounds")
	left, err := os.ReadDir(o.folder)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestBench(t *testing.T) {
	for _, schema := range []string{legacySchema, runtimeSchema} {
		t.Run(schema, func(t *testing.T) {
			t.Chdir(t.TempDir())
			o := options{schemas: []string{schema}, sessions: few, rounds: 3, sweep: 50, folder: "build/bench", json: true}
			var out, progress bytes.Buffer
			require.NoError(t, bench(t.Context(), o, &out, &progress))
			assert.Contains(t, progress.String(), "making")

			var got report
			require.NoError(t, json.Unmarshal(out.Bytes(), &got))
			assert.Equal(t, schema, got.Schema)
			assert.Equal(t, few, got.Sessions)
			for _, durations := range [][]time.Duration{got.Samples.Floor, got.Samples.Scan, got.Samples.Delete, got.Samples.Held} {
				require.Len(t, durations, o.rounds)
			}
			for i, held := range got.Samples.Held {
				assert.Positive(t, held)
				assert.Less(t, held, got.Samples.Delete[i], "the lock is held within the delete")
				assert.Positive(t, got.Samples.Floor[i])
				assert.Positive(t, got.Samples.Scan[i])
			}
			assert.Len(t, got.Ratios, 3)
			if schema == runtimeSchema {
				assert.Equal(t, 50, got.Samples.Sweep.Sessions)
				assert.Positive(t, got.Samples.Sweep.Swept)
				assert.Positive(t, got.Samples.Sweep.LongestHeld)
			} else {
				assert.Nil(t, got.Samples.Sweep)
			}

			o.json, o.files = false, true
			out.Reset()
			progress.Reset()
			require.NoError(t, bench(t.Context(), o, &out, &progress))
			assert.NotContains(t, progress.String(), "making", "a store is made once")
			assert.Contains(t, out.String(), wholeToFloor)
			assert.Contains(t, out.String(), "a file for each session")
			kept, err := os.ReadDir(o.folder)
			require.NoError(t, err)
			assert.Len(t, kept, 1, "copies do not stay")
		})
	}
}

func TestBenchSaysWhatIsWrong(t *testing.T) {
	o := options{schemas: []string{legacySchema}, sessions: few, rounds: 10, folder: t.TempDir()}
	require.ErrorContains(t, bench(t.Context(), o, io.Discard, io.Discard), "220 are enough")
	o.rounds = 0
	require.ErrorContains(t, bench(t.Context(), o, io.Discard, io.Discard), "no rounds")
	o.rounds, o.schemas = 1, []string{"older"}
	require.ErrorContains(t, bench(t.Context(), o, io.Discard, io.Discard), `"older"`)
}

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
	deleter := deletion.New(slog.New(slog.DiscardHandler))
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

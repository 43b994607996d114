package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestMain(m *testing.M) {
	agentIfAsked()
	sidecartest.Main(m)
}

const few = 200 // sessions: the pattern ten times

// quick are options with which everything is measured once, and too briefly to say anything.
func quick(t *testing.T, modes ...string) options {
	return options{
		modes: modes, schemas: []string{legacySchema, runtimeSchema}, sizes: []int{few}, rounds: 2, sweep: 50, conversations: 3,
		messages: 50, calm: time.Millisecond, folder: t.TempDir(),
	}
}

// measured runs the benchmark and reads its results.
func measured(t *testing.T, o options) []result {
	t.Helper()
	o.json = true
	file, err := os.Create(filepath.Join(t.TempDir(), "results"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	require.NoError(t, bench(t.Context(), o, file, io.Discard))
	results, err := readResults(file.Name())
	require.NoError(t, err)
	return results
}

func TestEveryModeMeasures(t *testing.T) {
	for _, m := range modes() {
		if m.name == "memory" && runtime.GOOS != "linux" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			o := quick(t, m.name)
			o.rounds = 1
			o.sidecar = sidecartest.Binary(t, sidecartest.Plain)
			results := measured(t, o)
			require.Len(t, results, len(m.histories(o)))
			for _, r := range results {
				assert.Equal(t, m.name, r.Mode)
				require.NotEmpty(t, r.Figures)
				for _, s := range r.Series {
					require.NotEmpty(t, s.Took, s.Name)
					for _, took := range s.Took {
						assert.Positive(t, took, s.Name)
					}
				}
			}
			left, err := os.ReadDir(o.folder)
			require.NoError(t, err)
			for _, entry := range left {
				assert.Equal(t, ".db", filepath.Ext(entry.Name()), "only stores stay")
			}
		})
	}
}

func TestKeptDeletes(t *testing.T) {
	o := quick(t)
	o.kept = 50
	for _, r := range measured(t, o) {
		assert.Equal(t, "kept", r.Mode)
		assert.Len(t, r.Series, 4)
	}
}

func TestADeleteIsMeasuredInEachRound(t *testing.T) {
	t.Chdir(t.TempDir())
	o := quick(t, "delete")
	o.folder, o.files = "build/bench", true
	for i, r := range measured(t, o) {
		assert.Equal(t, o.schemas[i], r.Schema)
		assert.Equal(t, few, r.Sessions)
		assert.Positive(t, r.StoreBytes)
		for _, name := range []string{"floor", "scan", "delete", "held", "plain"} {
			require.Len(t, r.took(name), o.rounds, name)
		}
		for n, held := range r.took("held") {
			assert.Less(t, held, r.took("delete")[n], "the lock is held within the delete")
		}
		assert.Equal(t, i == 1, len(r.Notes) == 2, "only a store with the ledger is swept: %q", r.Notes)
	}
	var out, progress bytes.Buffer
	require.NoError(t, bench(t.Context(), o, &out, &progress))
	assert.NotContains(t, progress.String(), "making", "a store is made once")
	assert.Contains(t, out.String(), wholeToLeast)
	assert.Contains(t, out.String(), "≤ 1.5 from 100000")
}

func TestBenchSaysWhatIsWrong(t *testing.T) {
	for wrong, change := range map[string]func(*options){
		"220 are enough": func(o *options) { o.rounds = 10 },
		"no rounds":      func(o *options) { o.rounds = 0 },
		`"older"`:        func(o *options) { o.schemas = []string{"older"} },
		`"other"`:        func(o *options) { o.modes = []string{"other"} },
	} {
		o := quick(t, "delete")
		change(&o)
		require.ErrorContains(t, bench(t.Context(), o, io.Discard, io.Discard), wrong)
	}
	_, _, err := readOptions([]string{"-sessions", "10,many"})
	require.ErrorContains(t, err, `"many"`)
}

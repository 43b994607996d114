package statedb

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func startExam(t *testing.T, path string) *Exam {
	t.Helper()
	exam, err := StartExam(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(exam.Close)
	_, err = exam.Shape(t.Context(), Agent{})
	require.NoError(t, err)
	return exam
}

func TestChooseWay(t *testing.T) {
	none := fileState{}
	file := func(size int64) fileState {
		path := t.TempDir() + "/file"
		require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
		info, err := os.Lstat(path)
		require.NoError(t, err)
		return fileState{info: info}
	}
	empty, full := file(0), file(4096)
	for name, c := range map[string]struct {
		files  []fileState
		hasLog bool
		want   way
	}{
		"nobody has it open":                {[]fileState{full, none, none}, true, wayAlone},
		"of a kind without a log":           {[]fileState{full, none, none}, false, wayPlain},
		"others have it open":               {[]fileState{full, full, full}, true, wayBeside},
		"a sidecar left an empty log":       {[]fileState{full, empty, full}, true, wayBeside},
		"an empty log alone":                {[]fileState{full, empty, none}, true, wayAlone},
		"an empty log and an empty index":   {[]fileState{full, empty, empty}, true, wayAlone},
		"a log without its index":           {[]fileState{full, full, none}, true, wayCopy},
		"a log with an empty index":         {[]fileState{full, full, empty}, true, wayCopy},
		"an index without a log":            {[]fileState{full, none, full}, true, wayAlone},
		"no byte":                           {[]fileState{empty, none, none}, true, wayEmpty},
		"no byte, and a log that would go":  {[]fileState{empty, full, full}, true, wayEmpty},
		"a log of a kind that has none, so": {[]fileState{full, none, full}, false, wayPlain},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := chooseWay(c.files, func() (bool, error) { return c.hasLog, nil })
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
	_, err := chooseWay([]fileState{none, none, none}, nil)
	require.ErrorIs(t, err, ErrMissing)
}

// What was read of a store that nobody had open counts only if that stayed so.
func TestAnExamTellsWhetherItHolds(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema)
	alone := startExam(t, home.Store())
	require.Equal(t, wayAlone, alone.way)
	assert.True(t, alone.Holds())
	home.Exec("INSERT INTO sessions (id, source, started_at) VALUES ('S', 'cli', 1)")
	assert.False(t, alone.Holds())

	db := home.Open()
	defer func() { _ = db.Close() }()
	_, err := db.Exec("INSERT INTO sessions (id, source, started_at) VALUES ('T', 'cli', 1)")
	require.NoError(t, err)
	beside := startExam(t, home.Store())
	require.Equal(t, wayBeside, beside.way)
	_, err = db.Exec("INSERT INTO sessions (id, source, started_at) VALUES ('U', 'cli', 1)")
	require.NoError(t, err)
	assert.True(t, beside.Holds(), "it is a snapshot")
	live, err := beside.LiveIDs(t.Context(), []string{"S", "T", "U", "V"})
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"S": true, "T": true}, live)
}

// Where the time is up, what was not asked is unknown, and no damage.
func TestTooLittleTime(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema)
	exam := startExam(t, home.Store())
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	h := exam.Contents(over)
	require.Len(t, h.Failures, len(exam.questions()))
	k := exam.Check(over)
	require.NotEmpty(t, k.Failures)
	assert.Zero(t, k.Tables)
	assert.Empty(t, k.Damage)
	for _, f := range append(h.Failures, k.Failures...) {
		assert.True(t, f.Unfinished(), f.What)
		assert.False(t, f.Damaged(), f.What)
		assert.NotEmpty(t, f.Line())
	}
	assert.Equal(t, &Health{Failures: h.Failures}, h, "nothing else is said")
	all, err := exam.CheckAll(over)
	require.NoError(t, err)
	require.NotEmpty(t, all.Failures)
	assert.True(t, all.Failures[0].Unfinished())
}

// A long check ends when its time does, in the midst of a table too.
func TestACheckEndsInTime(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, `INSERT INTO sessions (id, source, started_at) VALUES ('S', 'cli', 1);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
		INSERT INTO messages (session_id, role, content, timestamp) SELECT 'S', 'tool', hex(randomblob(200)), i FROM n`)
	exam := startExam(t, home.Store())
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	k := exam.Check(soon)
	require.NotEmpty(t, k.Failures)
	for _, f := range k.Failures {
		assert.True(t, f.Unfinished(), "%s: %v", f.What, f.Cause)
	}
	assert.Empty(t, k.Damage)
	for _, index := range k.Indexes {
		assert.Empty(t, index.Damage)
	}
	assert.Less(t, k.Tables, k.Of)
}

func TestHoldersOfGuards(t *testing.T) {
	past, later := 1.0, 4102444800.0
	at := func(expires any) Guard {
		g := Guard{Holder: "h", expires: expires}
		if n, ok := expires.(float64); ok {
			g.ExpiresAt = &n
		}
		return g
	}
	for name, c := range map[string]struct {
		guard Guard
		state HolderState
		stale bool
	}{
		"somebody is at work":        {at(later), HolderAlive, false},
		"nobody can tell":            {at(later), HolderUnknown, false},
		"its holder is gone":         {at(later), HolderGone, true},
		"it has run out":             {at(past), HolderAlive, true},
		"it never runs out":          {at("never"), HolderUnknown, false},
		"it never did, and has gone": {at("never"), HolderGone, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := examGuard(c.guard, 1000, func(string) HolderState { return c.state })
			assert.Equal(t, GuardHealth{c.guard, c.state, c.stale}, got)
		})
	}
}

// A table that is not there holds nothing; one of another shape is nobody's to ask.
func TestWhatAStoreLacks(t *testing.T) {
	home := sidecartest.NewHome(t)
	home.Create("CREATE TABLE notes (id); CREATE TABLE compression_locks (session_id)")
	h := startExam(t, home.Store()).Contents(t.Context())
	assert.Empty(t, h.Failures)
	assert.Nil(t, h.Sessions)
	assert.Nil(t, h.Messages)
	assert.Equal(t, &GuardsHealth{}, h.Guards)
	assert.Equal(t, &FenceHealth{}, h.Fences)
	assert.Equal(t, &Sampled{}, h.LooseMessages)
	assert.Equal(t, &ReceiptHealth{}, h.Receipts)
}

func TestWhatAnIndexIsMadeFrom(t *testing.T) {
	for create, want := range map[string]content{
		`USING fts5(a, content='src', content_rowid='id')`:   {"src", "id"},
		`USING fts5(a, content="src" , content_rowid = "n")`: {"src", "n"},
		`USING fts5(a, content=src)`:                         {"src", "rowid"},
		`USING fts5(content, tokenize='trigram')`:            {},
		`USING fts5(a, content='')`:                          {},
	} {
		got, ok := externalContent("CREATE VIRTUAL TABLE x " + create)
		assert.Equal(t, want, got, create)
		assert.Equal(t, want != content{}, ok, create)
	}
}

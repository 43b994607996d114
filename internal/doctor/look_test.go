package doctor

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
	"session-sidecar/methods"
	"session-sidecar/statedb"
)

func TestMain(m *testing.M) { sidecartest.Main(m) }

const rows = `INSERT INTO sessions (id, source, started_at) VALUES ('S', 'cli', 1);
	INSERT INTO messages (session_id, role, content, timestamp) VALUES ('S', 'user', 'hello', 1)`

func newHome(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, rows)
	home.Artifacts("S")
	return home
}

// imprint is every file and folder of a home, with its mode, time and bytes.
func imprint(t *testing.T, home string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		files[path] = fmt.Sprintf("%v %v %x", info.Mode(), info.ModTime().UnixNano(), sha256.Sum256(text))
		return err
	}))
	return files
}

func look(t *testing.T, home string, full bool) *Report {
	t.Helper()
	report, err := Look(t.Context(), Question{Home: home, Full: full})
	require.NoError(t, err)
	return report
}

func removeBeside(t *testing.T, home *sidecartest.Home, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		require.NoError(t, os.Remove(home.Store()+suffix))
	}
}

// afterAnAgentsEnd kills an Agent in the midst of its turn, when its log holds something, and tells how many messages there are.
func afterAnAgentsEnd(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	agent := sidecartest.StartAgent(t, home.Store(), "S", time.Millisecond)
	require.Eventually(t, func() bool {
		info, err := os.Stat(home.Store() + "-wal")
		return err == nil && info.Size() > 0
	}, time.Minute, time.Millisecond)
	agent.Kill()
}

// states are those that a store's files can be in.
var states = map[string]func(t *testing.T, home *sidecartest.Home){
	"as an Agent leaves it": func(*testing.T, *sidecartest.Home) {},
	"a sidecar has deleted": func(t *testing.T, home *sidecartest.Home) {
		p := sidecartest.Start(t, sidecartest.Plain)
		p.Handshake()
		require.True(t, p.Delete(home, "absent").OK)
		p.CloseStdin()
		require.Zero(t, p.Wait())
		require.FileExists(t, home.Store()+"-wal")
	},
	"a killed Agent": afterAnAgentsEnd,
	"a killed Agent, without the log's index": func(t *testing.T, home *sidecartest.Home) {
		afterAnAgentsEnd(t, home)
		removeBeside(t, home, "-shm")
	},
	"a killed Agent, without the log": func(t *testing.T, home *sidecartest.Home) {
		afterAnAgentsEnd(t, home)
		removeBeside(t, home, "-wal")
	},
	"an empty log alone": func(_ *testing.T, home *sidecartest.Home) { home.Write("state.db-wal", "") },
	"an empty log and an empty index": func(_ *testing.T, home *sidecartest.Home) {
		home.Write("state.db-wal", "")
		home.Write("state.db-shm", "")
	},
	"no log at all": func(_ *testing.T, home *sidecartest.Home) { home.Exec("PRAGMA journal_mode = DELETE") },
	"an Agent at work": func(t *testing.T, home *sidecartest.Home) {
		sidecartest.StartAgent(t, home.Store(), "S", time.Hour)
	},
	"an Agent that has the write lock": func(t *testing.T, home *sidecartest.Home) {
		sidecartest.HoldWriteLock(t, home.Store(), 0)
	},
	"empty, with a log that SQLite would remove": func(t *testing.T, home *sidecartest.Home) {
		require.NoError(t, os.Truncate(home.Store(), 0))
		home.Write("state.db-wal", "not nothing")
		home.Write("state.db-shm", strings.Repeat("\x00", 32<<10))
	},
	"no database": func(_ *testing.T, home *sidecartest.Home) {
		home.Write("state.db", "hello, I am no database, however long I am")
	},
	"cut off": func(t *testing.T, home *sidecartest.Home) { require.NoError(t, os.Truncate(home.Store(), 50_000)) },
}

// TestNothingIsTouched looks at homes in every state, and finds all their files and times as they were.
func TestNothingIsTouched(t *testing.T) {
	for name, make := range states {
		for _, full := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, full: %v", name, full), func(t *testing.T) {
				home := newHome(t)
				make(t, home)
				t.Setenv("TMPDIR", t.TempDir())
				before := imprint(t, home.Path)
				look(t, home.Path, full)
				assert.Equal(t, before, imprint(t, home.Path))
				left, err := filepath.Glob(filepath.Join(os.TempDir(), "sidecar-doctor-*"))
				require.NoError(t, err)
				assert.Empty(t, left, "no copy stays")
			})
		}
	}
}

// What an Agent has committed counts, wherever it lies.
func TestTheLogIsRead(t *testing.T) {
	for _, name := range []string{"a killed Agent", "a killed Agent, without the log's index"} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			states[name](t, home)
			report := look(t, home.Path, false)
			assert.True(t, report.Bytes > 0 && report.WALBytes > 0)
			words := map[Word]bool{}
			for _, f := range report.Findings {
				words[f.Word] = true
			}
			require.Equal(t, 1, report.Guards.Count, "the lease is in the log")
			assert.Equal(t, "gone", string(report.Guards.First[0].State))
			assert.Equal(t, map[Word]bool{WordGuardStale: true}, words)
			want := home.Query("SELECT count(*) FROM messages") // which tidies up
			assert.Equal(t, want[0], fmt.Sprint(*report.Messages))
		})
	}
}

// An Agent that writes all the time is not disturbed, and the doctor sees one moment of it.
func TestBesideAnAgentThatWrites(t *testing.T) {
	home := newHome(t)
	agent := sidecartest.StartAgent(t, home.Store(), "S", time.Millisecond)
	for round := range 10 {
		report := look(t, home.Path, round == 9)
		require.Equal(t, "alive", string(report.Guards.First[0].State))
		require.True(t, report.Healthy, "%+v", report.Findings)
		for _, index := range report.Checked.Indexes {
			require.Zero(t, *index.Extra+*index.Missing)
		}
	}
	work := agent.Stop()
	assert.Empty(t, work.Errors)
	assert.Positive(t, work.Messages)
	report := look(t, home.Path, true)
	assert.EqualValues(t, work.Messages+1, *report.Messages)
	assert.True(t, report.Healthy, "%+v", report.Findings)
}

// A store that keeps readers out for too long could not be looked at.
func TestNotLooked(t *testing.T) {
	home := newHome(t)
	home.Exec("PRAGMA journal_mode = DELETE")
	db := home.Open()
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	_, err := db.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)
	_, err = Look(t.Context(), Question{Home: home.Path})
	require.ErrorIs(t, err, statedb.ErrBusy)
	reason, line := methods.Explain(err)
	assert.Equal(t, methods.ReasonStoreBusy, reason)
	assert.NotEmpty(t, line)
}

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
	"session-sidecar/statedb"
)

func wordsOf(report *Report) (words []Word) {
	for _, f := range report.Findings {
		words = append(words, f.Word)
	}
	return words
}

// A writer without a log that ended half-way leaves a journal. What it had begun is not there, and the next writer tidies up, not we.
func TestAJournalThatWasLeft(t *testing.T) {
	home, left := newHome(t), sidecartest.NewHome(t)
	home.Exec("PRAGMA journal_mode = DELETE", `INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT 'S', 'user', hex(randomblob(500)), 1 FROM n`)
	db := home.Open()
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"PRAGMA cache_size = 2", "BEGIN", "UPDATE messages SET timestamp = 2, content = hex(randomblob(500))"} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	for _, suffix := range []string{"", "-journal"} { // as they lie there when it is killed now
		text, err := os.ReadFile(home.Store() + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(left.Store()+suffix, text, 0o600))
	}
	before := imprint(t, left.Path)
	for _, full := range []bool{false, true} {
		report := look(t, left.Path, full)
		assert.Contains(t, wordsOf(report), WordJournalLeft)
		assert.True(t, report.Healthy, "%+v", report.Findings)
		assert.EqualValues(t, 501, *report.Messages)
		assert.Equal(t, before, imprint(t, left.Path))
	}
	assert.Equal(t, []string{"501"}, left.Query("SELECT count(*) FROM messages WHERE timestamp = 1"), "whoever comes next rolls it back")
}

// What would refuse every delete is no health.
func TestASchemaThatRefusesEveryDelete(t *testing.T) {
	home := newHome(t)
	home.Exec(`CREATE TABLE turns (n INTEGER PRIMARY KEY, s TEXT REFERENCES sessions(id) ON DELETE CASCADE, before REFERENCES turns(n) ON DELETE CASCADE)`,
		`ALTER TABLE messages ADD turn INTEGER REFERENCES turns(n) ON DELETE CASCADE`)
	report := look(t, home.Path, false)
	assert.Equal(t, []Word{WordUnsupported}, wordsOf(report))
	assert.Empty(t, report.Path)
	assert.False(t, report.Healthy)
}

// A fence that has run out keeps nobody from its id.
func TestASessionBesideItsFence(t *testing.T) {
	for value, alarmed := range map[string]bool{
		`{"retired_at":1,"expires":true}`: false, `{"retired_at":1}`: true, `{"retired_at":1,"expires":1}`: true, `{"expires":true}`: true, `no JSON`: true,
	} {
		home := newHome(t)
		home.Exec(`INSERT INTO state_meta VALUES ('gateway.retired_session.v1.S', '` + value + `')`)
		if alarmed {
			assert.Contains(t, wordsOf(look(t, home.Path, false)), WordUndead, value)
		} else {
			assert.NotContains(t, wordsOf(look(t, home.Path, false)), WordUndead, value)
		}
	}
}

// However many guards hold, one that holds for nobody is found.
func TestAStaleGuardAmongMany(t *testing.T) {
	home := newHome(t)
	home.Exec(`INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT printf('a%03d', i), 'somebody', 1, 4102444800 FROM n`,
		`INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES ('z', 'somebody', 1, 2)`)
	report := look(t, home.Path, false)
	assert.Contains(t, wordsOf(report), WordGuardStale)
	assert.Equal(t, "z", report.Guards.First[len(report.Guards.First)-1].SessionID, "in the order of their names")
}

// That there is no room for a copy says nothing of the store.
func TestNoRoomForACopy(t *testing.T) {
	home := newHome(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	_, err := Look(t.Context(), Question{Home: home.Path, Full: true})
	require.ErrorIs(t, err, statedb.ErrIO)
	assert.True(t, look(t, home.Path, false).Healthy, "a look that makes no copy needs none")
}

// What is only in the log yet is copied too, and takes its time.
func TestACopyHoldsWhatTheLogHolds(t *testing.T) {
	home := newHome(t)
	db := home.Open()
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"PRAGMA wal_autocheckpoint = 0", "INSERT INTO state_meta VALUES ('large', '" + strings.Repeat("x", 1<<20) + "')"} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	var told int64
	report, err := Look(t.Context(), Question{Home: home.Path, Full: true, Begins: func(bytes int64, _ time.Duration) { told = bytes }})
	require.NoError(t, err)
	assert.Greater(t, told, report.Bytes+1<<20-1)
}

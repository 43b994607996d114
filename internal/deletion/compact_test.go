package deletion_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// bulky adds messages of 10 kB to the conversation of family.
func bulky(messages string) string {
	return `INSERT INTO messages (session_id, role, content, timestamp)
		WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ` + messages + `)
		SELECT 'LIVE', 'tool', hex(zeroblob(5000)), i FROM n`
}

// homeToCompact has a store of which about half is free.
func homeToCompact(t *testing.T, schema, messages string) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(schema, family, bulky(messages), `DELETE FROM messages WHERE id % 2 = 0 AND role = 'tool'`)
	return home
}

// content is every row of the store, with the ids that indexes know them by.
func content(home *sidecartest.Home) [][]string {
	return [][]string{
		home.Query("SELECT rowid, * FROM sessions ORDER BY rowid"),
		home.Query("SELECT id, session_id, timestamp, content FROM messages ORDER BY id"),
		home.Query("SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'zarquon'"),
		home.Query("SELECT name, sql FROM sqlite_schema ORDER BY name"),
	}
}

type compactResult struct {
	BytesBefore int64  `json:"bytes_before"`
	BytesAfter  int64  `json:"bytes_after"`
	WAL         string `json:"wal"`
}

type compactFrame struct {
	Phase string `json:"phase"`
	Bytes int64  `json:"bytes"`
	Of    int64  `json:"of"`
}

func startCompact(p *sidecartest.Process, home *sidecartest.Home) {
	p.Request("compact", "state_db.compact", map[string]any{"profile_home": home.Path})
}

func compact(t *testing.T, p *sidecartest.Process, home *sidecartest.Home) (result compactResult, frames []compactFrame) {
	t.Helper()
	startCompact(p, home)
	reply, data := answer(t, p)
	require.Nil(t, reply.Error, "%s", p.Stderr())
	require.NoError(t, json.Unmarshal(reply.Result, &result))
	for _, d := range data {
		var frame compactFrame
		require.NoError(t, json.Unmarshal(d, &frame))
		frames = append(frames, frame)
	}
	return result, frames
}

func onDisk(t *testing.T, home *sidecartest.Home) (store, wal int64) {
	t.Helper()
	info, err := os.Stat(home.Store())
	require.NoError(t, err)
	log, err := os.Stat(home.Store() + "-wal")
	if err != nil {
		return info.Size(), 0
	}
	return info.Size(), log.Size()
}

func TestCompactGivesSpaceBack(t *testing.T) {
	for name, schema := range map[string]string{"legacy": fixtures.LegacySchema, "runtime": fixtures.RuntimeSchema} {
		t.Run(name, func(t *testing.T) {
			home := homeToCompact(t, schema, "800")
			idle := home.Open() // an Agent that does nothing
			require.NoError(t, idle.Ping())
			before := content(home)
			p := sidecartest.Start(t, sidecartest.Plain)
			p.Handshake()
			result, frames := compact(t, p, home)

			assert.Equal(t, "truncated", result.WAL)
			assert.Less(t, result.BytesAfter, result.BytesBefore*6/10)
			store, wal := onDisk(t, home)
			assert.Equal(t, store+wal, result.BytesAfter)
			assert.Zero(t, wal)
			requireProgress(t, frames)
			assert.Equal(t, before, content(home))
			home.RequireSound()
			_, err := idle.Exec("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('LIVE', 'user', 'zarquon', 1)")
			require.NoError(t, err, "the Agent goes on")
			home.RequireSound()
		})
	}
}

// requireProgress wants each phase to begin at nothing and to end at all of it.
func requireProgress(t *testing.T, frames []compactFrame) {
	t.Helper()
	byPhase := map[string][]compactFrame{}
	for i, f := range frames {
		byPhase[f.Phase] = append(byPhase[f.Phase], f)
		assert.Positive(t, f.Of)
		if i > 0 && frames[i-1].Phase == f.Phase {
			assert.GreaterOrEqual(t, f.Bytes, frames[i-1].Bytes)
		}
	}
	require.Len(t, byPhase, 2)
	for _, phase := range []string{"vacuum", "checkpoint"} {
		list := byPhase[phase]
		require.GreaterOrEqual(t, len(list), 2, phase)
		assert.Zero(t, list[0].Bytes, phase)
		assert.Equal(t, list[0].Of, list[len(list)-1].Bytes, phase)
	}
	assert.Equal(t, "vacuum", frames[0].Phase)
}

// TestCompactBesideAReader leaves somebody who reads an older state in peace, and says that the log waits for them.
func TestCompactBesideAReader(t *testing.T) {
	home := homeToCompact(t, fixtures.LegacySchema, "100")
	home.ForeignIndex("messages_fts_cjk")
	reader, err := home.Open().Begin()
	require.NoError(t, err)
	count := func() (n int) {
		require.NoError(t, reader.QueryRow("SELECT count(content) FROM messages").Scan(&n))
		return n
	}
	n := count()
	before := content(home)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	result, frames := compact(t, p, home)
	assert.Equal(t, "busy", result.WAL)
	last := frames[len(frames)-1]
	assert.Equal(t, "checkpoint", last.Phase)
	assert.Less(t, last.Bytes, last.Of)
	assert.Equal(t, n, count())
	require.NoError(t, reader.Rollback())
	assert.Equal(t, before, content(home))

	result, _ = compact(t, p, home)
	assert.Equal(t, "truncated", result.WAL)
	assert.Equal(t, before, content(home))
}

// TestACancelledCompactChangesNothing cancels it while SQLite works. A quick machine may be done before it hears of that.
func TestACancelledCompactChangesNothing(t *testing.T) {
	home := homeToCompact(t, fixtures.LegacySchema, "5000")
	before := content(home)
	p := sidecartest.Start(t, sidecartest.Plain)
	p.Handshake()
	size, _ := onDisk(t, home)
	for tries := 1; !cancelCompact(t, p, home); tries++ {
		require.Less(t, tries, 20, "it was never cancelled in time")
		size, _ = onDisk(t, home)
	}
	requireCompactUndone(t, home, size)
	assert.Equal(t, before, content(home))
	home.RequireSound()
	_, _ = compact(t, p, home)
	assert.Equal(t, before, content(home))
}

// cancelCompact cancels a compact that has begun, and tells whether it was in time.
func cancelCompact(t *testing.T, p *sidecartest.Process, home *sidecartest.Home) bool {
	t.Helper()
	startCompact(p, home)
	require.Equal(t, "stream", p.Reply().Method, "VACUUM begins")
	p.Request(2, "rpc.cancel", map[string]any{"id": "compact"})
	var answered sidecartest.Reply
	for range 2 { // the two answers may come in either order
		if reply, _ := answer(t, p); string(reply.ID) == `"compact"` {
			answered = reply
		}
	}
	if answered.Error == nil {
		return false
	}
	assert.Equal(t, "cancelled", condition(t, answered))
	assert.Equal(t, -32001, answered.Error.Code)
	return true
}

func requireCompactUndone(t *testing.T, home *sidecartest.Home, size int64) {
	t.Helper()
	store, wal := onDisk(t, home)
	assert.Equal(t, size, store)
	assert.Zero(t, wal, "what it wrote takes no space")
}

// TestCompactWithoutSpaceChangesNothing runs out of room in the log, with a store so small that SQLite needs no temporary
// file, and where that is, with a larger one. What was written of the log is given back.
func TestCompactWithoutSpaceChangesNothing(t *testing.T) {
	for messages, blocks := range map[string]string{"150": "500", "800": "4000"} { // of 512 bytes, a third of what it needs
		home := homeToCompact(t, fixtures.LegacySchema, messages)
		before := content(home)
		size, _ := onDisk(t, home)
		p := sidecartest.Start(t, sidecartest.Plain, sidecartest.Shell(`ulimit -f `+blocks+`; exec "$0"`))
		p.Handshake()
		startCompact(p, home)
		reply, _ := answer(t, p)
		assert.Equal(t, "io_error", condition(t, reply))
		requireCompactUndone(t, home, size)
		assert.Equal(t, before, content(home))
		home.RequireSound()
	}
}

func TestCompactCrashAtEveryPoint(t *testing.T) {
	for _, point := range faultpoint.OfCompact() {
		compactCrashAt(t, "legacy", fixtures.LegacySchema, point)
		compactCrashAt(t, "canonical", fixtures.RuntimeSchema, point)
	}
}

func compactCrashAt(t *testing.T, path, schema string, point faultpoint.Point) {
	t.Run(path+","+string(point), func(t *testing.T) {
		t.Parallel()
		home := homeToCompact(t, schema, "100")
		before := content(home)
		p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL="+string(point)))
		p.Handshake()
		startCompact(p, home)
		require.Equal(t, -1, p.Wait(), "the process passed the point, or never came to it: %s", p.Stderr())
		assert.Equal(t, before, content(home))
		home.RequireSound()
		next := sidecartest.Start(t, sidecartest.Plain)
		next.Handshake()
		result, _ := compact(t, next, home)
		assert.Equal(t, "truncated", result.WAL)
		assert.Equal(t, before, content(home))
	})
}

// TestCompactAndDeleteNeverOverlap holds a compact at its beginning: a delete of another process waits for it.
func TestCompactAndDeleteNeverOverlap(t *testing.T) {
	home := homeForCrashes(t, false)
	held := t.TempDir()
	p := sidecartest.Start(t, sidecartest.FaultPoints,
		sidecartest.Env("SIDECAR_FAULT_WAIT=compact_begins", "SIDECAR_FAULT_DIR="+held))
	p.Handshake()
	startCompact(p, home)
	waitFor(t, filepath.Join(held, "compact_begins.reached"))
	other := sidecartest.Start(t, sidecartest.Plain)
	other.Handshake()
	startCompact(other, home)
	reply, _ := answer(t, other)
	assert.Equal(t, "store_busy", condition(t, reply))
	other.Request("delete", "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "P"})
	_, answered := other.TryLine(300 * time.Millisecond)
	require.False(t, answered)
	require.NoError(t, os.WriteFile(filepath.Join(held, "compact_begins.go"), nil, 0o600))
	reply, _ = answer(t, p)
	require.Nil(t, reply.Error)
	reply, _ = answer(t, other)
	assert.Contains(t, string(reply.Result), `"ok":true`)
	home.RequireSound()
}

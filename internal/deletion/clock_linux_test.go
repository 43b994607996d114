package deletion_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// wrongClock is the clock of one process.
type wrongClock struct {
	t    *testing.T
	file *os.File
}

// startWithClock starts a release build whose clock the test can set (testdata/clock). Its timers go on as before, as they do
// when somebody sets the clock of a machine.
func startWithClock(t *testing.T) (*sidecartest.Process, *wrongClock) {
	t.Helper()
	p, clock := clocked(t, 0)
	p.Handshake()
	return p, clock
}

// clockedProcess is one whose clock is wrong from the start, before its handshake.
func clockedProcess(t *testing.T, offset time.Duration) *sidecartest.Process {
	t.Helper()
	p, _ := clocked(t, offset)
	return p
}

func clocked(t *testing.T, offset time.Duration) (*sidecartest.Process, *wrongClock) {
	t.Helper()
	folder := t.TempDir()
	build := func(name string, args ...string) string {
		path := filepath.Join(folder, name)
		gcc := exec.Command("gcc", append([]string{"-O2", "-fPIC", "-shared", "-o", path}, args...)...)
		gcc.Dir = "testdata/clock"
		output, err := gcc.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return path
	}
	vdso := build("vdso.so", "-nostdlib", "-Wl,--hash-style=both", "-Wl,-z,noseparate-code", "-Wl,--version-script=vdso.map", "vdso.c")
	shim := build("shim.so", "shim.c")
	file, err := os.Create(filepath.Join(folder, "offset"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	require.NoError(t, file.Truncate(int64(os.Getpagesize())))
	clock := &wrongClock{t, file}
	clock.wrongBy(offset)
	return sidecartest.Start(t, sidecartest.Release,
		sidecartest.Env("LD_PRELOAD="+shim, "CLOCK_VDSO="+vdso, "CLOCK_OFFSET="+file.Name())), clock
}

// wrongBy lets the clock jump.
func (c *wrongClock) wrongBy(offset time.Duration) {
	c.t.Helper()
	var seconds [8]byte
	binary.NativeEndian.PutUint64(seconds[:], uint64(offset/time.Second))
	_, err := c.file.WriteAt(seconds[:], 0)
	require.NoError(c.t, err)
}

// homeOfClocks has sessions with what a time decides about: V's lease ran out a minute ago; a fence of a sweep is past its seven
// days by half a day.
func homeOfClocks(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.RuntimeSchema, `INSERT INTO sessions (id, source, started_at) VALUES ('U', 'cli', 1), ('V', 'cli', 1), ('W', 'cli', 1);
		INSERT INTO messages (session_id, role, content, timestamp) SELECT id, 'user', 'zarquon of ' || id, 1 FROM sessions;
		INSERT INTO session_turn_leases VALUES ('V', 'an Agent', unixepoch() - 100, unixepoch() - 60);
		INSERT INTO state_meta VALUES
		 ('gateway.retired_session.v1.old', '{"expires":true,"own":true,"retired_at":' || (unixepoch() - 648000) || '.0}'),
		 ('gateway.retired_session.v1.gone', '{"own":true,"retired_at":1790000000.0}')`)
	home.Artifacts("U", "V", "W")
	return home
}

// leaveOld leaves files that are two hours old: media that nobody names any more, and a manifest that was never finished.
func leaveOld(t *testing.T, home *sidecartest.Home) (media, abandoned string) {
	t.Helper()
	then := time.Now().Add(-2 * time.Hour)
	name := "sessions/.cleanup_manifest_0123456789abcdef0123456789abcdef.json.1.tmp"
	home.Write(name, "[")
	abandoned = filepath.Join(home.Path, name)
	require.NoError(t, os.Chtimes(abandoned, then, then))
	return note(t, home, "a", time.Since(then)), abandoned
}

func retiredAt(t *testing.T, home *sidecartest.Home, id string) float64 {
	t.Helper()
	rows := home.Query(`SELECT value ->> 'retired_at' FROM state_meta WHERE key = 'gateway.retired_session.v1.' || ?`, id)
	require.Len(t, rows, 1)
	at, err := strconv.ParseFloat(rows[0], 64)
	require.NoError(t, err)
	return at
}

func reclaimed(t *testing.T, p *sidecartest.Process, home *sidecartest.Home) (n int) {
	t.Helper()
	p.Request("reclaim", "state_db.reclaim_fences", map[string]any{"profile_home": home.Path})
	var result struct{ Reclaimed int }
	require.NoError(t, json.Unmarshal(p.Reply().Result, &result))
	return result.Reclaimed
}

// TestAClockThatJumpsBackADay: what waits goes on waiting for as long as it would have, what is too young now stays for a day more,
// a guard that had run out counts again. Nothing goes too early, and with the right time all of it goes.
func TestAClockThatJumpsBackADay(t *testing.T) {
	t.Parallel()
	home := homeOfClocks(t)
	p, clock := startWithClock(t)
	holder := sidecartest.HoldWriteLock(t, home.Store(), 0)
	p.Request("U", "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "U"})
	awaitLockOf(t, home)
	clock.wrongBy(-aDay)
	holder.Release()
	require.Contains(t, string(p.Reply().Result), `"ok":true,"deleted_ids":["U"]`)
	assert.InDelta(t, time.Now().Add(-aDay).Unix(), retiredAt(t, home, "U"), 3600, "the clock of the process has jumped")

	media, abandoned := leaveOld(t, home)
	result := p.Delete(home, "V")
	assert.Equal(t, "active_turn", result.Reason, "its lease holds until yesterday's now")
	assert.Nil(t, result.DeletedIDs)
	requireArtifacts(t, home, "V")
	assert.Zero(t, reclaimed(t, p, home))
	assert.FileExists(t, media)
	assert.FileExists(t, abandoned)
	home.RequireSound()

	clock.wrongBy(0)
	require.True(t, p.Delete(home, "V").OK)
	assert.Equal(t, 1, reclaimed(t, p, home))
	assert.NoFileExists(t, media)
	assert.NoFileExists(t, abandoned)
	assert.Empty(t, artifactsOf(home, "U", "V"))
	requireArtifacts(t, home, "W")
	assert.Empty(t, home.Manifests())
	home.RequireSound()
}

// TestPatienceOfAClockThatJumpsBack: the write lock is tried for its twenty seconds, and not for a day more.
func TestPatienceOfAClockThatJumpsBack(t *testing.T) {
	t.Parallel()
	home := homeOfClocks(t)
	p, clock := startWithClock(t)
	sidecartest.HoldWriteLock(t, home.Store(), 0)
	p.Request("W", "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "W"})
	awaitLockOf(t, home)
	clock.wrongBy(-aDay)
	assert.Contains(t, string(p.Reply().Result), `"ok":false,"reason":"store_busy"`)
	requireArtifacts(t, home, "W")
	assert.Empty(t, home.Manifests())
}

// awaitLockOf waits until a process holds the home's cleanup lock: a delete in it is about to ask for the store's.
func awaitLockOf(t *testing.T, home *sidecartest.Home) {
	t.Helper()
	lock := filepath.Join(home.Path, ".session_cleanup.lock")
	require.Eventually(t, func() bool {
		info, err := os.Stat(lock)
		if err != nil {
			return false
		}
		locks, err := os.ReadFile("/proc/locks")
		require.NoError(t, err)
		return strings.Contains(string(locks), fmt.Sprintf(":%d ", inode(info)))
	}, time.Minute, time.Millisecond)
}

package deletion_test

import (
	"fmt"
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

// TestMediaCrashAtEveryPoint kills the real process after each of the files that rows named is gone: every note is still
// there, and the next start finishes (contract 5b.5, 9).
func TestMediaCrashAtEveryPoint(t *testing.T) {
	for _, point := range faultpoint.OfMedia() {
		passings := 4
		if point == faultpoint.MediaDurable {
			passings = 1
		}
		for nth := 1; nth <= passings; nth++ {
			t.Run(fmt.Sprintf("%s#%d", point, nth), func(t *testing.T) {
				t.Parallel()
				home := homeWithMedia(t, fixtures.RuntimeSchema)
				files := []string{note(t, home, "a", aDay), note(t, home, "b", aDay)}
				for _, name := range []string{"cache/spillover/a.txt", "cache/spillover/tool-results/b.txt"} {
					home.Write(name, "content")
					files = append(files, filepath.Join(home.Path, name))
				}
				home.Exec(`INSERT INTO state_meta VALUES ('gateway.retired_session.v1.V', '{}'), ('sidecar.spill.v1.01',
					'{"files":["cache/spillover/a.txt","cache/spillover/tool-results/b.txt"],"session_ids":["V"]}')`)
				media, spilled := noted(home)

				p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env(fmt.Sprintf("SIDECAR_FAULT_KILL=%s#%d", point, nth)))
				handshakeWith(p, home)
				require.Equal(t, -1, p.Wait(), "the process passed the point, or never came to it: %s", p.Stderr())
				left := 0
				for _, file := range files {
					if _, err := os.Lstat(file); err == nil {
						left++
					}
				}
				if point == faultpoint.MediaDurable {
					assert.Zero(t, left)
				} else {
					assert.Equal(t, len(files)-nth, left)
				}
				nowMedia, nowSpilled := noted(home)
				assert.Equal(t, media, nowMedia)
				assert.Equal(t, spilled, nowSpilled)
				home.RequireSound()

				cleanUp(t, home)
				for _, file := range files {
					assert.NoFileExists(t, file)
				}
				nowMedia, nowSpilled = noted(home)
				assert.Empty(t, nowMedia)
				assert.Empty(t, nowSpilled)
				home.RequireSound()
			})
		}
	}
}

// handshakeWith introduces a host whose base home this is: what was left there is finished at once. The process may be
// gone before it answers.
func handshakeWith(p *sidecartest.Process, home *sidecartest.Home) {
	p.Request("handshake", "runtime.handshake", map[string]any{"rpc_version": 1, "base_home": home.Path})
}

// TestNoWriteLockForWhatStays lets the real process end where it takes the write lock for the second time: the delete
// takes it once, and files that are still named, or too young, take it not at all.
func TestNoWriteLockForWhatStays(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	note(t, home, "a", 1)
	named := note(t, home, "b", aDay)
	home.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('LIVE', 'user', '` + named + `', 1)`)
	older := t.TempDir() // an Agent from before the ledger
	p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_KILL=write_lock_held#2"))
	p.Handshake(fmt.Sprintf(`{"rpc_version":1,"agent_dir":%q}`, older))
	result := p.Delete(home, "P")
	assert.True(t, result.OK, result.Detail)
	assert.True(t, result.Cleanup.Complete)
	media, _ := noted(home)
	assert.Len(t, media, 2)
}

// heldAt lets a real process wait at a point, shows what can be done meanwhile, and lets it go on.
func heldAt(t *testing.T, point faultpoint.Point, home *sidecartest.Home, ask func(*sidecartest.Process), meanwhile func()) *sidecartest.Process {
	t.Helper()
	folder := t.TempDir()
	p := sidecartest.Start(t, sidecartest.FaultPoints,
		sidecartest.Env("SIDECAR_FAULT_WAIT="+string(point), "SIDECAR_FAULT_DIR="+folder))
	ask(p)
	base := filepath.Join(folder, string(point))
	require.Eventually(t, func() bool { _, err := os.Lstat(base + ".reached"); return err == nil }, 30*time.Second, time.Millisecond)
	meanwhile()
	require.NoError(t, os.WriteFile(base+".go", nil, 0o600))
	return p
}

// Others can write while what was unlinked is made certain; its note is still there.
func TestNoWriteLockWhileADiskIsWaitedFor(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	path := note(t, home, "a", aDay)
	p := heldAt(t, faultpoint.MediaDurable, home, func(p *sidecartest.Process) { handshakeWith(p, home) }, func() {
		assert.NoFileExists(t, path)
		home.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('LIVE', 'user', 'meanwhile', 1)`)
		media, _ := noted(home)
		assert.Equal(t, []string{path}, media)
	})
	require.Nil(t, p.Reply().Error)
	assert.True(t, p.Delete(home, "P").OK)
	media, _ := noted(home)
	assert.Empty(t, media)
	home.RequireSound()
}

// The spilled files are listed before the write lock is taken: one that comes later is not seen.
func TestSpilledFilesAreListedBeforeTheWriteLock(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	home.Exec(`INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1)`,
		`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('V', 'tool', 'spillover/early.txt spillover/late.txt', 1)`)
	home.Write("cache/spillover/early.txt", "x")
	p := heldAt(t, faultpoint.WriteLockHeld, home, func(p *sidecartest.Process) {
		p.Handshake()
		p.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "V"})
	}, func() { home.Write("cache/spillover/late.txt", "x") })
	require.Nil(t, p.Reply().Error)
	assert.NoFileExists(t, filepath.Join(home.Path, "cache/spillover/early.txt"))
	assert.FileExists(t, filepath.Join(home.Path, "cache/spillover/late.txt"))
}

// A store that gets busy right after the commit: the rows are gone, and nobody could ask who else names the file.
func TestADeleteWhoseOwnFileCouldNotBeAskedForIsPending(t *testing.T) {
	home := homeWithMedia(t, fixtures.RuntimeSchema)
	home.Exec(`INSERT INTO sessions (id, source, started_at) VALUES ('V', 'cli', 1)`,
		`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('V', 'tool', 'spillover/v.txt', 1)`)
	home.Write("cache/spillover/v.txt", "x")
	var holder *sidecartest.Holder
	p := heldAt(t, faultpoint.AfterCommit, home, func(p *sidecartest.Process) {
		p.Handshake()
		p.Request(1, "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "V"})
	}, func() { holder = sidecartest.HoldWriteLock(t, home.Store(), 0) })
	result := string(p.Reply().Result)
	assert.Contains(t, result, `"ok":false,"deleted_ids":["V"],"reason":"cleanup_pending"`)
	assert.Contains(t, result, `"cleanup":{"complete":false,"pending":[{"session_id":"V","cause":"media_failed"}]`)
	p.Request(2, "runtime.status", map[string]any{})
	assert.Contains(t, string(p.Reply().Result), `"pending":[{"session_id":"V","cause":"media_failed"}]`)
	holder.Release()
	assert.True(t, p.Delete(home, "P").Cleanup.Complete)
	assert.NoFileExists(t, filepath.Join(home.Path, "cache/spillover/v.txt"))
}

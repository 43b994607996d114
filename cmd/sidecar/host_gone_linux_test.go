package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/sidecartest"
)

// introduced is the process id that the sidecar tells.
func (c *child) introduced() (pid int) {
	c.t.Helper()
	c.send(handshake)
	var result struct{ PID int }
	require.NoError(c.t, json.Unmarshal(c.reply().Result, &result))
	require.NotZero(c.t, result.PID)
	return result.PID
}

// ended tells whether a process is gone with all its threads, or only waits for somebody to ask how it ended.
func ended(pid int) bool {
	stat, err := os.ReadFile(procPath(pid, "stat"))
	threads, _ := os.ReadDir(procPath(pid, "task"))
	return err != nil || strings.Contains(string(stat), ") Z ") && len(threads) <= 1
}

// requireGone requires of a process that it has ended in time, and that it holds no lock of the home.
func requireGone(t *testing.T, pid int, hostEnded time.Time, home *sidecartest.Home) {
	t.Helper()
	for !ended(pid) {
		require.Less(t, time.Since(hostEnded), outlivedFor, "the sidecar outlives its host")
		time.Sleep(time.Millisecond)
	}
	lock := flock.New(filepath.Join(home.Path, ".session_cleanup.lock"))
	taken, err := lock.TryLock()
	require.NoError(t, err)
	require.True(t, taken, "the home's lock is held")
	require.NoError(t, lock.Unlock())
	home.Exec("PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE", "ROLLBACK")
}

// storeToLose has one session with a message and files.
func storeToLose(t *testing.T) *sidecartest.Home {
	t.Helper()
	home := storeWith(t, fixtures.LegacySchema)
	home.Exec(`INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s1', 'user', 'zarquon', 1)`)
	home.Artifacts("s1")
	return home
}

// requireAll and requireNothing look at what became of it, files included once the next sidecar has been there. A manifest of what
// has not happened stays and does no harm.
func requireAll(t *testing.T, home *sidecartest.Home) { requireRows(t, home, []string{}, 0) }

func requireNothing(t *testing.T, home *sidecartest.Home) { requireRows(t, home, []string{"s1"}, 4) }

func requireRows(t *testing.T, home *sidecartest.Home, sessions []string, files int) {
	t.Helper()
	home.RequireSound()
	require.Equal(t, sessions, home.Query(`SELECT id FROM sessions`))
	require.Equal(t, sessions, home.Query(`SELECT session_id FROM messages`))
	next := sidecartest.Start(t, sidecartest.Plain)
	next.Handshake()
	require.True(t, next.Delete(home, "another").OK)
	require.Len(t, home.Sessions(), files+len(home.Manifests()))
	require.True(t, files > 0 || len(home.Manifests()) == 0)
}

// TestAHostThatIsKilledWhileADeleteWaits: for the home's lock, or for the store's. The delete is not made.
func TestAHostThatIsKilledWhileADeleteWaits(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(*testing.T, *sidecartest.Home) (free func()){
		"for the home": holdLock,
		"for the store": func(t *testing.T, home *sidecartest.Home) func() {
			return sidecartest.HoldWriteLock(t, home.Store(), 0).Release
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := storeToLose(t)
			free := hold(t, home)
			c := underHost(t)
			pid := c.introduced()
			c.send(deletion(t, `1`, home, "s1"))
			awaitInFlight(t, 2, func() sidecartest.Reply {
				c.send(ask(`2`, "runtime.status", `{}`))
				return c.reply()
			})
			hostEnded := c.endHost(func() { requireError(t, c.reply(), `1`, -32001, "cancelled") })
			free()
			requireGone(t, pid, hostEnded, home)
			requireNothing(t, home)
		})
	}
}

// TestAHostThatIsKilledWhileADeleteCommits: what is about to commit has the time to, and then all of it has happened; so it has
// where the commit is through and the rest never comes to its end. What does not commit in time has not happened.
func TestAHostThatIsKilledWhileADeleteCommits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		point    faultpoint.Point
		hangs    bool // for longer than the sidecar may live
		happened func(*testing.T, *sidecartest.Home)
	}{
		{"about to", faultpoint.BeforeCommit, false, requireAll},
		{"through", faultpoint.AfterCommit, false, requireAll},
		{"about to, and hangs", faultpoint.BeforeCommit, true, requireNothing},
		{"through, and hangs", faultpoint.AfterCommit, true, requireAll},
		{"with a file to go, and hangs", faultpoint.BeforeUnlink, true, requireAll},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := storeToLose(t)
			folder := t.TempDir()
			c := underHost(t, func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, spawnVariable+"="+sidecartest.Binary(t, sidecartest.FaultPoints),
					"SIDECAR_FAULT_WAIT="+string(test.point), "SIDECAR_FAULT_DIR="+folder)
			})
			pid := c.introduced()
			c.send(deletion(t, `1`, home, "s1"))
			at := filepath.Join(folder, string(test.point))
			require.Eventually(t, func() bool { _, err := os.Lstat(at + ".reached"); return err == nil }, patience, time.Millisecond)
			hostEnded := c.endHost(func() {
				if !test.hangs {
					require.NoError(t, os.WriteFile(at+".go", nil, 0o600))
					reply := c.reply()
					require.Nil(t, reply.Error)
					require.Contains(t, string(reply.Result), `"ok":true,"deleted_ids":["s1"]`)
				}
			})
			requireGone(t, pid, hostEnded, home)
			test.happened(t, home)
		})
	}
}

package deletion_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// status is what these tests read of runtime.status.
type status struct {
	Watched []struct {
		ProfileHome string `json:"profile_home"`
		How         string `json:"how"`
		Why         string `json:"why"`
	} `json:"watched"`
	Homes []struct {
		Pending []struct {
			SessionID string `json:"session_id"`
			Cause     string `json:"cause"`
		} `json:"pending"`
		Unreadable []string `json:"unreadable"`
	} `json:"homes"`
	Counters struct {
		CleanupRuns int `json:"cleanup_runs"`
	} `json:"counters"`
}

// statusOf asks a sidecar that has no other call under way.
func statusOf(t *testing.T, p *sidecartest.Process) (s status) {
	t.Helper()
	p.Request("status", "runtime.status", map[string]any{})
	require.NoError(t, json.Unmarshal(p.Reply().Result, &s))
	return s
}

// watchedHow waits until the one home that is watched is so, and gives why.
func watchedHow(t *testing.T, p *sidecartest.Process, how string) (why string) {
	t.Helper()
	eventually(t, func() bool {
		watched := statusOf(t, p).Watched
		if len(watched) != 1 || watched[0].How != how {
			return false
		}
		why = watched[0].Why
		return true
	}, "not by %s: %s", how, p.Stderr())
	return why
}

func eventually(t *testing.T, done func() bool, format string, args ...any) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !done() { // not require.Eventually: the answers are read in this goroutine
		require.True(t, time.Now().Before(deadline), format, args)
		time.Sleep(time.Millisecond)
	}
}

// watchedStore is a home with a live session, and a sidecar that watches it.
func watchedStore(t *testing.T, options ...sidecartest.Option) (*sidecartest.Home, *sidecartest.Process) {
	t.Helper()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema, `INSERT INTO sessions (id, source, started_at) VALUES ('LIVE', 'cli', 1), ('GOES', 'cli', 2)`)
	p := sidecartest.Start(t, sidecartest.Plain, options...)
	p.Handshake(`{"rpc_version":1,"watch":["` + home.Path + `"]}`)
	return home, p
}

// renameIn puts a manifest in place as every program of this kind does.
func renameIn(t *testing.T, home *sidecartest.Home, name, text string) {
	t.Helper()
	home.Write("sessions/"+name+".writing", text)
	from := filepath.Join(home.Path, "sessions", name+".writing")
	require.NoError(t, os.Rename(from, filepath.Join(home.Path, "sessions", ".cleanup_manifest_"+name+".json")))
}

func gone(home *sidecartest.Home, name string) func() bool {
	return func() bool {
		_, err := os.Lstat(filepath.Join(home.Path, name))
		return os.IsNotExist(err)
	}
}

// The sidecar is stopped, so that the system has nowhere to put the events: those of ten thousand files, and that of a
// manifest at the end.
func TestEventsThatOverflowLoseNothing(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	require.NoError(t, err)
	room, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	home, p := watchedStore(t)
	watchedHow(t, p, "events")
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGSTOP))
	for i := range max(10_000, room/2+100) { // to make a file and to write it are two events
		home.Write(fmt.Sprintf("sessions/unrelated_%d.txt", i), "x")
	}
	home.Artifacts("V")
	renameIn(t, home, "1", `["V"]`)
	p.Request("delete", "state_db.delete_cli_session", map[string]any{"profile_home": home.Path, "session_id": "GOES"})
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGCONT))
	var result sidecartest.DeleteResult
	require.NoError(t, json.Unmarshal(p.Reply().Result, &result))
	assert.True(t, result.OK)
	assert.Contains(t, watchedHow(t, p, "polling"), "events were lost")

	// Once more, with nobody who deletes: the manifest is found by the rescan alone.
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGSTOP))
	for i := range max(10_000, room/2+100) {
		require.NoError(t, os.Remove(filepath.Join(home.Path, fmt.Sprintf("sessions/unrelated_%d.txt", i))))
		home.Write(fmt.Sprintf("sessions/unrelated_%d.dat", i), "x")
	}
	home.Artifacts("W")
	renameIn(t, home, "2", `["W"]`)
	require.NoError(t, p.Cmd.Process.Signal(syscall.SIGCONT))
	eventually(t, gone(home, "sessions/W.json"), "W is still there: %s", p.Stderr())
	assert.True(t, gone(home, "sessions/V.json")())
	assert.Equal(t, 1, strings.Count(p.Stderr(), "events of watched homes were lost"), "said once")
	assert.Len(t, p.Stderr(), len(strings.ReplaceAll(p.Stderr(), "a watched home is polled", "")), "and not of each home")

	// Events still come.
	home.Artifacts("X")
	renameIn(t, home, "3", `["X"]`)
	eventually(t, gone(home, "sessions/X.json"), "X is still there")
}

// Ten thousand files come and go in the folder while sessions are deleted, and nothing of it makes a run.
func TestUnrelatedEventsHoldNobodyUp(t *testing.T) {
	home, p := watchedStore(t)
	watchedHow(t, p, "events")
	eventually(t, func() bool { return statusOf(t, p).Counters.CleanupRuns == 1 }, "the home is not worked through at the start")
	flooded := make(chan error, 1)
	go func() {
		for i := range 10_000 {
			path := filepath.Join(home.Path, "sessions", fmt.Sprintf("unrelated_%d.txt", i))
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				flooded <- err
				return
			}
			_ = os.Remove(path)
		}
		flooded <- nil
	}()
	for i := range 20 {
		assert.True(t, p.Delete(home, fmt.Sprintf("absent_%d", i)).OK)
	}
	require.NoError(t, <-flooded)
	renameIn(t, home, "1", `["V"]`)
	eventually(t, func() bool { return len(home.Manifests()) == 0 }, "the manifest is still there")
}

// inNamespace starts a sidecar whose user may have only so many watches, in a user namespace of its own.
func inNamespace(t *testing.T, limits string) sidecartest.Option {
	t.Helper()
	return func(c *exec.Cmd) {
		program := c.Path
		shell, err := exec.LookPath("unshare")
		require.NoError(t, err)
		c.Path, c.Args = shell, []string{"unshare", "-U", "-r", "sh", "-c", limits + `; exec "$0"`, program}
	}
}

func TestWhereTheSystemAllowsNoWatches(t *testing.T) {
	require.NoError(t, exec.Command("unshare", "-U", "-r", "true").Run(), "this test needs user namespaces")
	for name, limits := range map[string]string{
		"no queue":  "echo 0 > /proc/sys/user/max_inotify_instances",
		"one watch": "echo 1 > /proc/sys/user/max_inotify_watches",
		"no watch":  "echo 0 > /proc/sys/user/max_inotify_watches",
	} {
		t.Run(name, func(t *testing.T) {
			home := sidecartest.NewHome(t)
			home.Create(fixtures.LegacySchema, `INSERT INTO sessions (id, source, started_at) VALUES ('LIVE', 'cli', 1)`)
			home.Artifacts("before", "renamed", "in_place", "again", "LIVE")
			renameIn(t, home, "0", `["before"]`)
			p := sidecartest.Start(t, sidecartest.Plain, inNamespace(t, limits))
			p.Handshake(`{"rpc_version":1,"watch":["` + home.Path + `"]}`)
			assert.NotEmpty(t, watchedHow(t, p, "polling"))
			eventually(t, gone(home, "sessions/before.json"), "the first is still there: %s", p.Stderr())

			renameIn(t, home, "1", `["renamed"]`)
			eventually(t, gone(home, "sessions/renamed.json"), "what was renamed in is still there: %s", p.Stderr())

			home.Write("sessions/.cleanup_manifest_2.json", `["in_pl`)
			eventually(t, func() bool {
				homes := statusOf(t, p).Homes
				return len(homes) == 1 && len(homes[0].Unreadable) == 1
			}, "half a manifest was not seen: %s", p.Stderr())
			home.Write("sessions/.cleanup_manifest_2.json", `["in_place"]`)
			eventually(t, gone(home, "sessions/in_place.json"), "what was written in place is still there: %s", p.Stderr())

			folder := filepath.Join(home.Path, "sessions")
			require.NoError(t, os.Rename(folder, filepath.Join(home.Path, "away")))
			home.Artifacts("again")
			renameIn(t, home, "3", `["again"]`)
			eventually(t, gone(home, "sessions/again.json"), "what came with a new folder is still there: %s", p.Stderr())
			eventually(t, func() bool { return len(statusOf(t, p).Homes) == 0 }, "something is still pending: %s", p.Stderr())
			assert.Equal(t, 1, strings.Count(p.Stderr(), "a watched home is polled"), "said once: %s", p.Stderr())

			// With room for more watches, the system is asked again at the next occasion.
			more := exec.Command("nsenter", "-U", "-t", strconv.Itoa(p.Cmd.Process.Pid), "sh", "-c",
				"echo 9 > /proc/sys/user/max_inotify_instances; echo 9 > /proc/sys/user/max_inotify_watches")
			require.NoError(t, more.Run())
			renameIn(t, home, "4", `["again"]`)
			watchedHow(t, p, "events")
		})
	}
}

// An Agent that writes all the time costs no run where nothing is pending, and few where something waits for the store.
func TestABusyStoreMakesFewRuns(t *testing.T) {
	home, p := watchedStore(t)
	watchedHow(t, p, "events")
	eventually(t, func() bool { return statusOf(t, p).Counters.CleanupRuns == 1 }, "the home is not worked through at the start")
	written := func() int {
		n, err := strconv.Atoi(home.Query("SELECT count(*) FROM messages")[0])
		require.NoError(t, err)
		return n
	}
	agent := sidecartest.StartAgent(t, home.Store(), "LIVE", 5*time.Millisecond)
	eventually(t, func() bool { return written() > 200 }, "the Agent does not write")
	assert.Equal(t, 1, statusOf(t, p).Counters.CleanupRuns)

	home.Artifacts("GOES")
	renameIn(t, home, "1", `["GOES"]`)
	eventually(t, func() bool { return len(statusOf(t, p).Homes) == 1 }, "the manifest is not seen")
	before := statusOf(t, p).Counters.CleanupRuns
	since := written()
	eventually(t, func() bool { return written() > since+400 }, "the Agent does not write")
	assert.Less(t, statusOf(t, p).Counters.CleanupRuns-before, 40, "in 400 commits")
	home.Exec("DELETE FROM sessions WHERE id = 'GOES'")
	eventually(t, gone(home, "sessions/GOES.json"), "the session is gone, its files are not: %s", p.Stderr())
	assert.Empty(t, agent.Stop().Errors)
}

// Two sidecars watch one home, and another program leaves one manifest after the other: no two runs ever overlap.
func TestTwoThatWatchOneHome(t *testing.T) {
	alone := t.TempDir()
	home := sidecartest.NewHome(t)
	home.Create(fixtures.LegacySchema)
	var processes []*sidecartest.Process
	for range 2 {
		p := sidecartest.Start(t, sidecartest.FaultPoints, sidecartest.Env("SIDECAR_FAULT_ALONE="+alone))
		p.Handshake(`{"rpc_version":1,"watch":["` + home.Path + `"]}`)
		watchedHow(t, p, "events")
		processes = append(processes, p)
	}
	removed := map[string]int{}
	listen := func() {
		for _, p := range processes {
			for _, note := range p.Notifications("cleanup.changed") {
				var change struct {
					Removed []string `json:"removed_ids"`
				}
				require.NoError(t, json.Unmarshal(note.Params, &change))
				for _, id := range change.Removed {
					removed[id]++
				}
			}
		}
	}
	for i := range 10 {
		id := fmt.Sprintf("V%d", i)
		home.Artifacts(id)
		renameIn(t, home, strconv.Itoa(i), `["`+id+`"]`)
		if i%2 == 0 { // or both find it at the same time
			assert.True(t, processes[i%4/2].Delete(home, fmt.Sprintf("absent_%d", i)).OK)
		}
		eventually(t, func() bool { return len(home.Sessions()) == 0 }, "%s is still there", id)
	}
	eventually(t, func() bool { listen(); return len(removed) == 10 }, "not all were told")
	for _, p := range processes {
		p.CloseStdin()
		assert.Zero(t, p.Wait())
	}
	listen()
	for id, times := range removed {
		assert.Equal(t, 1, times, "%s was settled more than once", id)
	}
	assert.NoFileExists(t, filepath.Join(alone, "overlap"))
}

// Another process holds the home's lock when a manifest comes: the watcher tries again and stands in nobody's way meanwhile, and
// the end of the input ends it at once (contract 1.8 gives seven seconds).
func TestAWatchWaitsForNoLock(t *testing.T) {
	home, p := watchedStore(t)
	watchedHow(t, p, "events")
	eventually(t, func() bool { return statusOf(t, p).Counters.CleanupRuns == 1 }, "the home is not worked through at the start")
	lock := filepath.Join(home.Path, ".session_cleanup.lock")
	holder := sidecartest.HoldFileLock(t, lock)
	home.Artifacts("V", "W")
	renameIn(t, home, "1", `["V"]`)
	holder.Release()
	eventually(t, gone(home, "sessions/V.json"), "V is still there: %s", p.Stderr())

	holder = sidecartest.HoldFileLock(t, lock)
	defer holder.Release()
	renameIn(t, home, "2", `["W"]`)
	begun := time.Now()
	p.CloseStdin()
	assert.Zero(t, p.Wait())
	assert.Less(t, time.Since(begun), 7*time.Second)
	assert.FileExists(t, filepath.Join(home.Path, "sessions/W.json"))
	assert.NotContains(t, p.Stderr(), "cannot be cleaned up", "it is no failure")
}

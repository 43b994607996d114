package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

func procPath(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

// What a library prints goes to standard error, and frames to a descriptor that a library does not know (contract 1.1).
func TestStandardOutputIsPointedAtStandardError(t *testing.T) {
	t.Parallel()
	c := launch(t)
	c.send(handshake)
	c.reply()
	target := func(fd string) string {
		link, err := os.Readlink(procPath(c.cmd.Process.Pid, "fd/"+fd))
		require.NoError(t, err)
		return link
	}
	require.Equal(t, c.log, target("2"))
	require.Equal(t, c.log, target("1"))

	// The duplicate is close-on-exec, so that no process that a library starts holds the channel open.
	info, err := c.out.Stat()
	require.NoError(t, err)
	channel := fmt.Sprintf("pipe:[%d]", info.Sys().(*syscall.Stat_t).Ino)
	entries, err := os.ReadDir(procPath(c.cmd.Process.Pid, "fd"))
	require.NoError(t, err)
	found := 0
	for _, entry := range entries {
		if link, err := os.Readlink(procPath(c.cmd.Process.Pid, "fd/"+entry.Name())); err != nil || link != channel {
			continue
		}
		found++
		fdInfo, err := os.ReadFile(procPath(c.cmd.Process.Pid, "fdinfo/"+entry.Name()))
		require.NoError(t, err)
		_, flags, _ := strings.Cut(string(fdInfo), "flags:")
		value, err := strconv.ParseInt(strings.Fields(flags)[0], 8, 64)
		require.NoError(t, err)
		require.NotZero(t, value&syscall.O_CLOEXEC, "descriptor %s", entry.Name())
	}
	require.Equal(t, 1, found)
}

// residentKB is the memory of a process that is in RAM.
func residentKB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(procPath(pid, "status"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(status), "VmRSS:")
	require.True(t, ok)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return kb
}

// Twenty megabytes are what an idle sidecar may hold.
func TestAnIdleSidecarIsSmall(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	home.Artifacts("s1")
	p := sidecartest.Start(t, sidecartest.Release)
	p.Handshake()
	before := residentKB(t, p.Cmd.Process.Pid)
	require.True(t, p.Delete(home, "s1").OK)
	after := residentKB(t, p.Cmd.Process.Pid)
	t.Logf("%d KB after the handshake, %d KB after a delete", before, after)
	require.Less(t, before, 20_000)
	require.Less(t, after, 20_000)
}

func TestAnInterruptCancelsACallFromTheCommandLine(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	holdLock(t, home)
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain), "call", "state_db.delete_cli_session", "-")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	line := deletion(t, `1`, home, "s1")
	_, err = stdin.Write([]byte(line[strings.Index(line, `{"profile_home"`) : len(line)-1]))
	require.NoError(t, err)
	require.NoError(t, stdin.Close())
	awaitOpen(t, cmd.Process.Pid, filepath.Join(home.Path, ".session_cleanup.lock"))
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Equal(t, 1, exitCodeOf(t, cmd.Wait()), stderr.String())
	require.Empty(t, stdout.String())
	require.Contains(t, stderr.String(), `"code":-32001`)
	require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
}

// awaitOpen waits until a process has opened a file.
func awaitOpen(t *testing.T, pid int, path string) {
	t.Helper()
	require.Eventually(t, func() bool {
		links, _ := filepath.Glob(procPath(pid, "fd/*"))
		for _, link := range links {
			if target, _ := os.Readlink(link); target == path {
				return true
			}
		}
		return false
	}, patience, time.Millisecond)
}

// A plan that nobody could see is not carried out, with --yes either.
func TestAPlanThatCannotBePrintedDeletesNothing(t *testing.T) {
	t.Parallel()
	home := storeWith(t, fixtures.LegacySchema)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { _ = full.Close() }()
	var stderr bytes.Buffer
	cmd := exec.Command(sidecartest.Binary(t, sidecartest.Plain), "delete", "--home", home.Path, "--yes", "s1")
	cmd.Stdout, cmd.Stderr = full, &stderr
	require.Equal(t, exitFailure, exitCodeOf(t, cmd.Run()), stderr.String())
	require.Equal(t, "sidecar: write /dev/stdout: no space left on device\n", stderr.String())
	require.Equal(t, []string{"s1"}, home.Query(`SELECT id FROM sessions`))
}

//go:build unix

package demo

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASignalEndsTheDemoInOrder(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			temporary := t.TempDir()
			reader, writer := fullPipe(t)
			cmd, _, stderr := command(t, temporary)
			cmd.Stdout = writer
			require.NoError(t, cmd.Start())
			require.NoError(t, writer.Close())
			// The demo's first line finds no room, so it waits there, with the store already made. Then the delete waits
			// for the lock of the home, which is ours.
			holdHome(t, temporary)
			shown := readUntil(t, reader, "state_db.delete_cli_session")
			require.NoError(t, cmd.Process.Signal(signal))
			_, err := io.Copy(io.Discard, reader)
			require.NoError(t, err)
			require.Error(t, cmd.Wait())
			requireFailure(t, cmd, stderr, temporary, "the demo ended early: it was interrupted")

			found := regexp.MustCompile(`"pid":(\d+)`).FindStringSubmatch(shown)
			require.NotNil(t, found)
			pid, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the sidecar must have ended before the demo")
		})
	}
}

func TestAReaderThatLeavesEndsTheDemo(t *testing.T) {
	temporary := t.TempDir()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	cmd, _, stderr := command(t, temporary)
	cmd.Stdout = writer
	require.Error(t, cmd.Run())
	requireFailure(t, cmd, stderr, temporary, "broken pipe")
	assert.NoError(t, writer.Close())
}

// fullPipe is a pipe into which nothing can be written before somebody reads.
func fullPipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = reader.Close()
		_ = writer.Close()
	})
	require.NoError(t, writer.SetWriteDeadline(time.Now().Add(50*time.Millisecond)))
	for err == nil {
		_, err = writer.WriteString("\n")
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	return reader, writer
}

// holdHome waits for the demo's home and takes its lock until the test ends.
func holdHome(t *testing.T, temporary string) {
	t.Helper()
	var stores []string
	require.Eventually(t, func() bool {
		stores, _ = filepath.Glob(filepath.Join(temporary, "sidecar-demo-*", "profile", "state.db"))
		return len(stores) == 1
	}, time.Minute, time.Millisecond)
	lock := flock.New(filepath.Join(filepath.Dir(stores[0]), ".session_cleanup.lock"), flock.SetPermissions(0o600))
	require.NoError(t, lock.Lock())
	t.Cleanup(func() { assert.NoError(t, lock.Close()) })
}

// readUntil reads lines until one holds a text, and gives them all.
func readUntil(t *testing.T, reader *os.File, text string) string {
	t.Helper()
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(time.Minute)))
	lines := bufio.NewReaderSize(reader, 16)
	var read strings.Builder
	for !strings.Contains(read.String(), text) {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, read.String())
		read.WriteString(line)
	}
	return read.String()
}

//go:build unix

package statedb

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"session-sidecar/fixtures"
	"session-sidecar/internal/sidecartest"
)

// Opening a FIFO may wait for its other end for ever.
func TestAFIFOIsNoStore(t *testing.T) {
	home, _ := emptyHome(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(home, FileName), 0o600))
	_, err := Locate(home)
	require.ErrorIs(t, err, ErrIO)
	_, err = LiveIDs(t.Context(), home, []string{"x"})
	require.ErrorIs(t, err, ErrIO)
}

// The same holds for what SQLite opens beside a store; and a copy of a log that is a link would be one of what it leads to.
func TestWhatIsNoFileBesideAStore(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		for kind, put := range map[string]func(path string) error{
			"FIFO": func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"link": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			t.Run(kind+suffix, func(t *testing.T) {
				home := sidecartest.NewHome(t)
				home.Create(fixtures.LegacySchema)
				_ = os.Remove(home.Store() + suffix)
				require.NoError(t, put(home.Store()+suffix))
				_, err := StartExam(t.Context(), home.Store())
				require.ErrorIs(t, err, ErrIO)
				_, err = StartLook(t.Context(), home.Store(), time.Second)
				require.ErrorIs(t, err, ErrIO)
				_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
				require.ErrorIs(t, err, ErrIO)
			})
		}
	}
}

package locks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

func TestLookTellsWhoHoldsTheLock(t *testing.T) {
	home := newHome(t)
	assert.Equal(t, State{}, Look(home))
	assert.NoFileExists(t, filepath.Join(home, FileName))

	path := filepath.Join(home, FileName)
	holder := sidecartest.HoldFileLock(t, path)
	state := Look(home)
	require.True(t, state.Known)
	require.Len(t, state.Holders, 1)
	assert.NotEqual(t, os.Getpid(), state.Holders[0].PID)
	assert.NotEmpty(t, state.Holders[0].Name)
	holder.Release()
	assert.Equal(t, State{There: true, Known: true}, Look(home))
	assert.True(t, sidecartest.OtherProgramGets(t, path), "to look takes no lock")
}

func TestLookTellsWhatIsNoLock(t *testing.T) {
	home := newHome(t)
	require.NoError(t, os.Mkdir(filepath.Join(home, FileName), 0o700))
	state := Look(home)
	assert.True(t, state.There)
	require.ErrorIs(t, state.Unusable, ErrUnusable)
}

func TestReadLock(t *testing.T) {
	for line, want := range map[string]heldLock{
		"1: FLOCK  ADVISORY  WRITE 4711 fd:01:262147 0 EOF":  {4711, "fd:01", 262147},
		"2: POSIX  ADVISORY  READ 12 00:2b:77 120 120":       {12, "00:2b", 77},
		"1: -> FLOCK  ADVISORY  WRITE 99 fd:01:262147 0 EOF": {},
		"1: FLOCK  ADVISORY  WRITE 0 fd:01:262147 0 EOF":     {},
		"1: FLOCK  ADVISORY  WRITE -1 fd:01:262147 0 EOF":    {},
		"1: FLOCK  ADVISORY  WRITE 5 fd:01:x 0 EOF":          {},
		"1: FLOCK": {},
		"":         {},
	} {
		got, ok := readLock(line)
		assert.Equal(t, want != heldLock{}, ok, line)
		if ok {
			assert.Equal(t, want, got, line)
		}
	}
}

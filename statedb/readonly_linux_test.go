package statedb

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sidecartest"
)

// restrict takes rights away until the test ends.
func restrict(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.Chmod(path, mode))
	t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
}

func TestAStoreThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := newStore(t, sessionX)
	restrict(t, home.Store(), 0o400)
	// SQLite opens such a store for reading without a word.
	_, err := remove(t, begin(t, home), "x")
	require.ErrorIs(t, err, ErrIO)
}

func TestAStoreThatMayNotBeRead(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := newStore(t, sessionX)
	restrict(t, home.Store(), 0)
	_, err := Begin(t.Context(), home.Store(), soon)
	require.ErrorIs(t, err, ErrIO)
	_, err = LiveIDs(t.Context(), home.Path, []string{"x"})
	require.ErrorIs(t, err, ErrIO)
}

func TestAStoreInAFolderThatMayNotBeWritten(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := newStore(t, sessionX)
	restrict(t, home.Path, 0o500)
	_, err := Begin(t.Context(), home.Store(), soon)
	require.ErrorIs(t, err, ErrIO)
	assert.NoFileExists(t, home.Store()+"-wal")
}

func TestAHomeThatMayNotBeSearched(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	home := newStore(t, sessionX)
	restrict(t, home.Path, 0)
	_, err := Locate(home.Path)
	require.ErrorIs(t, err, ErrIO)
	require.ErrorIs(t, err, os.ErrPermission)
}

func TestAnAgentsFolderThatMayNotBeListed(t *testing.T) {
	if sidecartest.AsNobody(t) {
		return
	}
	dir := t.TempDir()
	restrict(t, dir, 0o300)
	_, err := LookAtAgent(dir)
	require.ErrorIs(t, err, os.ErrPermission)
}

package trash

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestModesOfAnEntry(t *testing.T) {
	home := t.TempDir()
	write(t, home)
	for path, mode := range map[string]os.FileMode{pathIn(home): 0o600, filepath.Join(home, FolderName): 0o700 | os.ModeDir} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), path)
	}
	assert.Equal(t, []string{operation + suffix}, namesIn(t, home), "no temporary file is left")
}

// TestALongTitle is cut in the header; its row has it whole.
func TestALongTitle(t *testing.T) {
	for _, letter := range []string{"x", "é", "\U0001f600", "\xff"} {
		assert.Equal(t, strings.Repeat(letter, 1000), cut(strings.Repeat(letter, 1000)))
		assert.Equal(t, strings.Repeat(letter, 1000), cut(strings.Repeat(letter, 1001)))
	}
	home := t.TempDir()
	f := open(t, home)
	long := header
	long.Title = strings.Repeat("é", maxHeader)
	w, err := f.Begin(long)
	require.NoError(t, err)
	_, err = io.WriteString(w, rowLine)
	require.NoError(t, err)
	require.NoError(t, w.Commit())
	entry, err := f.Check(t.Context(), operation)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("é", 1000), entry.Title)
}

func TestAWriteThatIsGivenUp(t *testing.T) {
	home := t.TempDir()
	f := open(t, home)
	names, err := f.Names()
	require.NoError(t, err)
	assert.Empty(t, names)
	w, err := f.Begin(header)
	require.NoError(t, err)
	w.Discard()
	assert.Empty(t, namesIn(t, home))
	w, err = f.Begin(header)
	require.NoError(t, err)
	require.NoError(t, w.Commit())
	w.Discard()
	assert.Empty(t, namesIn(t, home), "the delete was not done")
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// An entry that cannot be finished leaves nothing: neither its bytes, nor its name, nor a temporary one.
func TestACommitThatFails(t *testing.T) {
	home := t.TempDir()
	w, err := open(t, home).Begin(header)
	require.NoError(t, err)
	w.out.Reset(fullDisk{}) // the rest cannot be written
	require.ErrorIs(t, w.Commit(), ErrUnusable)
	assert.Empty(t, namesIn(t, home))

	require.NoError(t, os.MkdirAll(filepath.Join(pathIn(home), "in the way"), 0o700))
	w, err = open(t, home).Begin(header)
	require.NoError(t, err)
	require.ErrorIs(t, w.Commit(), ErrUnusable)
	assert.Equal(t, []string{Name(operation)}, namesIn(t, home), "what was in the way is not ours")
	assert.DirExists(t, filepath.Join(pathIn(home), "in the way"))
}

// What could not be read again is not written.
func TestAHeaderThatIsTooLong(t *testing.T) {
	home := t.TempDir()
	long := header
	long.DeletedIDs = []string{strings.Repeat("x", maxHeader)}
	_, err := open(t, home).Begin(long)
	require.ErrorIs(t, err, ErrUnkeepable)
	assert.Empty(t, namesIn(t, home))
}

// A clock that is wrong by lifetimes makes no entry that nobody could read.
func TestAHeaderThatCannotBe(t *testing.T) {
	home := t.TempDir()
	for _, deletedAt := range []float64{-1, farthest} {
		odd := header
		odd.DeletedAt, odd.KeepUntil = deletedAt, deletedAt+86400
		_, err := open(t, home).Begin(odd)
		require.ErrorIs(t, err, ErrUnusable)
		assert.Empty(t, namesIn(t, home))
	}
}

func TestARowThatIsTooLong(t *testing.T) {
	home := t.TempDir()
	w, err := open(t, home).Begin(header)
	require.NoError(t, err)
	w.length = maxLine - 10
	_, err = io.WriteString(w, "nine\nnine\n")
	require.NoError(t, err)
	w.length = maxLine - 10
	_, err = io.WriteString(w, "elevenchars\n")
	require.ErrorIs(t, err, ErrUnkeepable)
	assert.ErrorContains(t, err, "128 MiB")
	err = w.Failure(fmt.Errorf("copy the table messages: %w", err))
	require.ErrorIs(t, err, ErrUnkeepable)
	assert.IsType(t, &Error{}, err, "whatever was made of it on the way")
	w.Discard()
}

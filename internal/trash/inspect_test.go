package trash

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func inspect(ctx context.Context, t *testing.T, home string) *Inspection {
	t.Helper()
	found, err := open(t, home).Inspect(ctx)
	require.ErrorIs(t, err, ctx.Err())
	return found
}

func TestAnInspectionOfNothing(t *testing.T) {
	home := t.TempDir()
	assert.Equal(t, &Inspection{}, inspect(t.Context(), t, home))
	require.NoError(t, os.Mkdir(filepath.Join(home, FolderName), 0o700))
	assert.Equal(t, &Inspection{}, inspect(t.Context(), t, home))
}

// An inspection tells what is whole, what is not, and what was never finished; what is no entry by its name is not ours.
func TestAnInspection(t *testing.T) {
	home := t.TempDir()
	write(t, home)
	whole, err := os.ReadFile(pathIn(home))
	require.NoError(t, err)
	bytes := int64(len(whole))
	putAs := func(name string, content []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(home, FolderName, name), content, 0o600))
		if strings.HasSuffix(name, suffix) && name != "other"+suffix {
			bytes += int64(len(content))
		}
	}
	garbage, cut := strings.Repeat("0", 32)+suffix, strings.Repeat("f", 32)+suffix
	putAs(garbage, []byte("nothing"))
	cutText := strings.Replace(headerLine, operation, strings.Repeat("f", 32), 1)
	putAs(cut, zipped(t, cutText+rowLine))
	putAs("other"+suffix, whole)
	putAs("README", nil)
	temporary := operation + suffix + ".01234567.tmp"
	putAs(temporary, whole[:20])

	found := inspect(t.Context(), t, home)
	want := header
	want.Format = Format
	want.Title, want.DeletedIDs = "", nil
	assert.Equal(t, &Inspection{
		Entries: 3, Bytes: bytes, Headers: []Header{want}, Unreadable: []string{garbage, cut}, Unfinished: []string{temporary},
	}, found)

	found = inspect(&endsAfter{t.Context(), 14}, t, home) // with the first lines read, and nothing else
	assert.Equal(t, []string{garbage}, found.Unreadable, "there was no time for the rest of the others")
	assert.Len(t, found.Headers, 2)
	assert.Equal(t, bytes, found.Bytes)

	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	assert.Equal(t, &Inspection{Entries: 3, Bytes: bytes, Unfinished: []string{temporary}}, inspect(late, t, home), "from then on nothing is opened")

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Nil(t, inspect(cancelled, t, home), "who has gone waits for no header either")
}

// endsAfter is a context that ends once it has been asked so many times whether it has.
type endsAfter struct {
	context.Context
	asks int
}

func (e *endsAfter) Err() error {
	if e.asks--; e.asks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestWhatIsOpenToOthers(t *testing.T) {
	home := t.TempDir()
	write(t, home)
	require.NoError(t, os.Chmod(filepath.Join(home, FolderName), 0o750))
	require.NoError(t, os.Chmod(pathIn(home), 0o604))
	assert.Equal(t, []string{FolderName, Name(operation)}, inspect(t.Context(), t, home).Exposed)
	require.NoError(t, os.Remove(pathIn(home)))
	require.NoError(t, os.Symlink("elsewhere", pathIn(home)))
	found := inspect(t.Context(), t, home)
	assert.Equal(t, []string{FolderName}, found.Exposed, "every link has such a mode")
	assert.Equal(t, []string{Name(operation)}, found.Unreadable)
}

// What may be the store's own file is not opened (see TestTheStoreUnderTheNameOfAnEntry), and is no entry.
func TestAnInspectionOpensNoStore(t *testing.T) {
	home := t.TempDir()
	write(t, home)
	require.NoError(t, os.Link(pathIn(home), filepath.Join(home, "state.db")))
	found := inspect(t.Context(), t, home)
	assert.Equal(t, []string{Name(operation)}, found.Unreadable)
	assert.Empty(t, found.Headers)
}

package trash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheListSeesAChangedFile: what was read to its end once is not read again, unless the file is another by now.
func TestTheListSeesAChangedFile(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	var checker Checker
	list := func() Listing {
		listing, err := checker.List(t.Context(), f, home)
		require.NoError(t, err)
		return listing
	}
	first := list()
	require.Len(t, first.Entries, 1)
	assert.Equal(t, first, list())
	require.NoError(t, os.Truncate(pathIn(home), first.Entries[0].Bytes-1))
	assert.Equal(t, Listing{Unreadable: []string{operation + suffix}}, list())
	put(t, home, zipped(t, headerLine+rowLine+`{"lines":2}`+"\n"))
	listing := list()
	require.Len(t, listing.Entries, 1)
	assert.Equal(t, []string{"a"}, listing.Entries[0].DeletedIDs)
	require.NoError(t, f.Remove(operation))
	assert.Empty(t, list())
}

// TestTheNewestIsFirst: who looks for what went by mistake looks for what went last.
func TestTheNewestIsFirst(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, FolderName), 0o700))
	deletedAt := map[string]string{"0": "7", "1": "9.5", "2": "7", "3": "9.25", "f": "7"}
	for digit, at := range deletedAt {
		id := strings.Repeat(digit, 32)
		line := strings.NewReplacer(operation, id, "1790000000.5", at).Replace(headerLine)
		require.NoError(t, os.WriteFile(Path(home, id), zipped(t, line+rowLine+`{"lines":2}`+"\n"), 0o600))
	}
	var checker Checker
	listing, err := checker.List(t.Context(), open(t, home), home)
	require.NoError(t, err)
	var order string
	for _, e := range listing.Entries {
		order += e.OperationID[:1]
	}
	assert.Equal(t, "1302f", order)
}

func TestTheListKnowsAFileThatBecameTheStore(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	var checker Checker
	listing, err := checker.List(t.Context(), f, home)
	require.NoError(t, err)
	require.Len(t, listing.Entries, 1)
	require.NoError(t, os.Link(pathIn(home), filepath.Join(home, "state.db")))
	listing, err = checker.List(t.Context(), f, home)
	require.NoError(t, err)
	assert.Empty(t, listing.Entries, "a second name changes neither size nor time")
	assert.Len(t, listing.Unreadable, 1)
}

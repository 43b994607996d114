package trash

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	operation = "0123456789abcdef0123456789abcdef"
	secret    = "zarquon" // a word that was deleted
)

var header = Header{
	OperationID: operation, DeletedAt: 1790000000.5, KeepUntil: 1790086400.5, DeletedIDs: []string{"a", "b"}, Title: "<&> \"é\u2028", MessageCount: 1,
}

const (
	headerLine = `{"format":1,"operation_id":"` + operation + `","deleted_at":1790000000.5,"keep_until":1790086400.5,"deleted_ids":["a"],"title":"","message_count":0}` + "\n"
	rowLine    = `{"table":"sessions","row":{"id":"a"}}` + "\n"
)

func open(t *testing.T, home string) *Folder {
	t.Helper()
	f, err := Open(home)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// write makes an entry with a row of each kind.
func write(t *testing.T, home string) *Folder {
	t.Helper()
	f := open(t, home)
	w, err := f.Begin(header)
	require.NoError(t, err)
	for _, line := range []string{
		`{"table":"sessions","row":{"id":"a","n":null,"real":1.0}}`, `{"table":"messages","row":{"session_id":"a",`,
		`"content":"` + secret + `","blob":{"base64":"AP8="},"odd":{"base64":"/w==","text":true},"big":9e999}}`,
	} {
		_, err := io.WriteString(w, line)
		require.NoError(t, err)
		if strings.HasSuffix(line, "}}") {
			_, err = io.WriteString(w, "\n")
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Commit())
	return f
}

func zipped(t *testing.T, texts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&out)
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return out.Bytes()
}

func pathIn(home string) string { return Path(home, operation) }

// put makes a file under the name of an entry.
func put(t *testing.T, home string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(home, FolderName), 0o700))
	require.NoError(t, os.WriteFile(pathIn(home), content, 0o600))
}

// requireDamaged also holds that nothing of what was deleted is told, that the list names the file, and that the file stays.
func requireDamaged(t *testing.T, home string) {
	t.Helper()
	f := open(t, home)
	before, _ := os.ReadFile(pathIn(home))
	_, err := f.Check(t.Context(), operation)
	require.ErrorIs(t, err, ErrDamaged)
	assert.NotContains(t, err.Error(), secret)
	var checker Checker
	listing, err := checker.List(t.Context(), f, home)
	require.NoError(t, err)
	assert.Empty(t, listing.Entries)
	assert.Equal(t, []string{operation + suffix}, listing.Unreadable)
	require.NoError(t, f.RemoveTemporary())
	after, _ := os.ReadFile(pathIn(home))
	assert.Equal(t, before, after)
}

func TestAnEntryComesBackAsItWas(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	rows, err := rowsOf(f)
	require.NoError(t, err)
	assert.Equal(t, []Row{
		{"sessions", map[string]any{"id": "a", "n": nil, "real": 1.0}},
		{"messages", map[string]any{"session_id": "a", "content": secret, "blob": []byte{0, 255}, "odd": "\xff", "big": math.Inf(1)}},
	}, rows)
	entry, err := f.Check(t.Context(), operation)
	require.NoError(t, err)
	want := header
	want.Format = Format
	assert.Equal(t, want, entry.Header)
	info, err := os.Stat(pathIn(home))
	require.NoError(t, err)
	assert.Equal(t, info.Size(), entry.Bytes)
	assert.Equal(t, []string{"a"}, entry.Sessions, "of the two ids that were deleted, one was there")
	headers, err := f.Headers()
	require.NoError(t, err)
	assert.Equal(t, []Header{want}, headers)

	require.NoError(t, f.Remove(operation))
	assert.ErrorIs(t, f.Remove(operation), ErrNotFound)
	_, err = f.Check(t.Context(), operation)
	assert.ErrorIs(t, err, ErrNotFound)
}

func namesIn(t *testing.T, home string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(home, FolderName))
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func rowsOf(f *Folder) (rows []Row, err error) {
	err = f.Read(context.Background(), operation, func(row Row) error { rows = append(rows, row); return nil })
	return rows, err
}

package trash

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
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

// TestAnEntryThatIsCutOff is cut at every byte; each byte of it changed is damaged too, or says the same as before.
func TestAnEntryThatIsCutOff(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	whole, err := os.ReadFile(pathIn(home))
	require.NoError(t, err)
	rows, err := rowsOf(f)
	require.NoError(t, err)
	for n := range whole {
		put(t, home, whole[:n])
		_, err := f.Check(t.Context(), operation)
		require.ErrorIs(t, err, ErrDamaged, "cut at %d of %d", n, len(whole))
	}
	put(t, home, whole[:len(whole)-1])
	requireDamaged(t, home)
	for n := 10; n < len(whole); n++ { // before that is gzip's header, which says nothing of the text
		changed := slices.Clone(whole)
		changed[n] ^= 0x10
		put(t, home, changed)
		if again, err := rowsOf(f); err == nil { // a bit that only fills a byte up
			require.Equal(t, rows, again)
		} else {
			require.ErrorIs(t, err, ErrDamaged, "changed at %d of %d", n, len(whole))
		}
	}
}

func TestWhatIsNoEntry(t *testing.T) {
	end := func(n int) string { return fmt.Sprintf(`{"lines":%d}`+"\n", n) }
	changed := func(from, to string) string { return strings.Replace(headerLine, from, to, 1) + rowLine + end(2) }
	row := func(line string) string { return headerLine + line + "\n" + end(2) }
	home := t.TempDir()
	put(t, home, zipped(t, headerLine+rowLine+end(2)))
	_, err := open(t, home).Check(t.Context(), operation)
	require.NoError(t, err, "what is changed below is an entry")
	for name, content := range map[string][]byte{
		"empty": {}, "no gzip": []byte(headerLine + rowLine + end(2)), "gzip of nothing": zipped(t, ""),
		"format 2":                zipped(t, changed(`"format":1`, `"format":2`)),
		"format as text":          zipped(t, changed(`"format":1`, `"format":"`+secret+`"`)),
		"no format":               zipped(t, changed(`"format":1,`, ``)),
		"an unknown field":        zipped(t, changed(`"title"`, `"`+secret+`"`)),
		"another operation":       zipped(t, changed(operation, strings.Repeat("f", 32))),
		"a path as its operation": zipped(t, changed(operation, "../../"+operation)),
		"no ids":                  zipped(t, changed(`["a"]`, `[]`)),
		"deleted before 1970":     zipped(t, changed(`"deleted_at":1790000000.5`, `"deleted_at":-1`)),
		"kept into the past":      zipped(t, changed(`"keep_until":1790086400.5`, `"keep_until":1.5`)),
		"kept for ever":           zipped(t, changed(`"keep_until":1790086400.5`, `"keep_until":1e300`)),
		"fewer than no messages":  zipped(t, changed(`"message_count":0`, `"message_count":-1`)),
		"messages beyond count":   zipped(t, changed(`"message_count":0`, `"message_count":9007199254740993`)),
		"a column twice":          zipped(t, row(`{"table":"sessions","row":{"id":"a","x":1,"x":2}}`)),
		"a column in two cases":   zipped(t, row(`{"table":"sessions","row":{"id":"a","ID":"`+secret+`"}}`)),
		"columns beyond all":      zipped(t, row(`{"table":"sessions","row":{"id":"a"`+manyColumns()+`}}`)),
		"a table twice":           zipped(t, row(`{"table":"sessions","row":{"id":"a"},"table":"sessions"}`)),
		"text that is no UTF-8":   zipped(t, row("{\"table\":\"sessions\",\"row\":{\"id\":\"a\",\"x\":\"\xff\"}}")),
		"base64 with more behind": zipped(t, row(`{"table":"sessions","row":{"id":"a","x":{"base64":"AA==AA=="}}}`)),
		"base64 that is cut":      zipped(t, row(`{"table":"sessions","row":{"id":"a","x":{"base64":"AAA"}}}`)),
		"base64 with escapes":     zipped(t, row(`{"table":"sessions","row":{"id":"a","x":{"base64":"AA\u003d="}}}`)),
		"two headers":             zipped(t, headerLine+headerLine+end(2)),
		"no end":                  zipped(t, headerLine+rowLine),
		"an end without a break":  zipped(t, headerLine+rowLine+`{"lines":2}`),
		"a line too many":         zipped(t, headerLine+rowLine+rowLine+end(2)),
		"a line too few":          zipped(t, headerLine+end(2)),
		"an odd end":              zipped(t, headerLine+rowLine+`{"lines":2,"more":1}`+"\n"),
		"text behind the end":     zipped(t, headerLine+rowLine+end(2)+secret),
		"a line behind the end":   zipped(t, headerLine+rowLine+end(2)+rowLine),
		"bytes behind the end":    append(zipped(t, headerLine+rowLine+end(2)), secret...),
		"zeros behind the end":    append(zipped(t, headerLine+rowLine+end(2)), 0, 0),
		"gzip behind the end":     zipped(t, headerLine+rowLine+end(2), ""),
		"in two parts":            zipped(t, headerLine, rowLine+end(2)),
		"an unknown table":        zipped(t, row(`{"table":"state_meta","row":{"key":"`+secret+`"}}`)),
		"a table in another case": zipped(t, row(`{"table":"Sessions","row":{"id":"a"}}`)),
		"no table":                zipped(t, row(`{"row":{"id":"a"}}`)),
		"no columns":              zipped(t, row(`{"table":"sessions","row":{}}`)),
		"a row that is a list":    zipped(t, row(`{"table":"sessions","row":["`+secret+`"]}`)),
		"a third field":           zipped(t, row(`{"table":"sessions","row":{"id":"a"},"`+secret+`":1}`)),
		"two objects in a line":   zipped(t, row(`{"table":"sessions","row":{"id":"a"}}{}`)),
		"no JSON":                 zipped(t, row(secret)),
		"a value that is a list":  zipped(t, row(`{"table":"sessions","row":{"`+secret+`":[]}}`)),
		"a value that is true":    zipped(t, row(`{"table":"sessions","row":{"id":true}}`)),
		"an odd object":           zipped(t, row(`{"table":"sessions","row":{"id":{"base64":"AA==","`+secret+`":1}}}`)),
		"text that is no text":    zipped(t, row(`{"table":"sessions","row":{"id":{"base64":"AA==","text":false}}}`)),
		"no base64":               zipped(t, row(`{"table":"sessions","row":{"id":{"base64":"`+secret+`!"}}}`)),
		"a number too large":      zipped(t, row(`{"table":"sessions","row":{"id":9223372036854775808}}`)),
		"an empty line":           zipped(t, row(``)),
		"a session twice":         zipped(t, headerLine+rowLine+rowLine+end(3)),
		"a stranger's session":    zipped(t, row(`{"table":"sessions","row":{"id":"`+secret+`"}}`)),
		"a session without an id": zipped(t, row(`{"table":"sessions","row":{"source":"cli"}}`)),
		"a stranger's message":    zipped(t, headerLine+rowLine+`{"table":"messages","row":{"session_id":"`+secret+`"}}`+"\n"+end(3)),
		"a message too early":     zipped(t, headerLine+`{"table":"messages","row":{"session_id":"a"}}`+"\n"+rowLine+end(3)),
		"no session":              zipped(t, headerLine+end(1)),
		"a header without an end": zipped(t, headerLine[:len(headerLine)-1]),
		"a header beyond all":     zipped(t, strings.Replace(headerLine, `"title":""`, `"title":"`+strings.Repeat("x", maxHeader)+`"`, 1)+end(1)),
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			put(t, home, content)
			requireDamaged(t, home)
			f := open(t, home)
			require.NoError(t, f.Remove(operation), "it goes where it is named")
			assert.Empty(t, namesIn(t, home))
		})
	}
}

func manyColumns() string {
	var columns strings.Builder
	for i := range maxColumns {
		fmt.Fprintf(&columns, `,"c%d":1`, i)
	}
	return columns.String()
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

// TestACancelIsHeard within one long line too, and is no damage.
func TestACancelIsHeard(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	ctx, cancel := context.WithCancel(t.Context())
	lines := &lineReader{ctx: ctx, from: bufio.NewReaderSize(endless{cancel}, 64)}
	_, err := lines.next(maxLine)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Check(ctx, operation)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, ErrDamaged)
	var checker Checker
	_, err = checker.List(ctx, f, home)
	require.ErrorIs(t, err, context.Canceled)
}

// endless is a line that nobody waits for the end of.
type endless struct{ cancel func() }

func (e endless) Read(into []byte) (int, error) {
	e.cancel()
	return copy(into, bytes.Repeat([]byte{'x'}, len(into))), nil
}

// TestCheckingCopiesNothing: who only wants to know whether an entry is whole does not read what is in it.
func TestCheckingCopiesNothing(t *testing.T) {
	line := []byte(`{"table":"messages","row":{"session_id":"a","content":"` + strings.Repeat(`x\n`, 1<<20) + `","b":{"base64":"` + strings.Repeat("AAAA", 1<<20) + `"}}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	row, err := parseRow(line)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(line)/10))
	whole, err := row.row()
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x\n", 1<<20), whole.Cells["content"])
	assert.Len(t, whole.Cells["b"], 3<<20)
}

// TestAnErrorSaysANameOnce, whatever the system said of it.
func TestAnErrorSaysANameOnce(t *testing.T) {
	err := unusable("x"+suffix, &fs.PathError{Op: "unlinkat", Path: "x" + suffix, Err: fs.ErrPermission})
	require.EqualError(t, err, "the trash of this home cannot be used: x.ndjson.gz: permission denied")
	require.ErrorIs(t, err, fs.ErrPermission)
	err = unusable(FolderName, &fs.PathError{Op: "openat", Path: "other", Err: fs.ErrPermission})
	require.EqualError(t, err, "the trash of this home cannot be used: trash: openat other: permission denied")
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

// A reader stops where whoever uses the rows fails, with that error.
func TestAnErrorOfTheUseIsNoDamage(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	err := f.Read(t.Context(), operation, func(Row) error { return os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
	assert.NotErrorIs(t, err, ErrDamaged)
}

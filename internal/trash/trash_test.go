package trash

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
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
	_, err := f.Check(operation)
	require.ErrorIs(t, err, ErrDamaged)
	assert.NotContains(t, err.Error(), secret)
	var checker Checker
	listing, err := checker.List(f, home)
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
	entry, err := f.Check(operation)
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
	_, err = f.Check(operation)
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
	err = f.Read(operation, func(row Row) error { rows = append(rows, row); return nil })
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
		_, err := f.Check(operation)
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
	_, err := open(t, home).Check(operation)
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

// What is no file of its own is never opened: under another name it may be the store's.
func TestWhatIsNoFileOfItsOwn(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	var checker Checker
	listing, err := checker.List(f, home)
	require.NoError(t, err)
	require.Len(t, listing.Entries, 1)
	require.NoError(t, os.Link(pathIn(home), filepath.Join(home, "other")))
	_, err = f.Check(operation)
	require.ErrorIs(t, err, ErrDamaged)
	listing, err = checker.List(f, home)
	require.NoError(t, err)
	assert.Empty(t, listing.Entries, "a second name changes neither size nor time")
	assert.Len(t, listing.Unreadable, 1)

	require.NoError(t, os.Remove(pathIn(home)))
	require.NoError(t, os.Symlink(filepath.Join(home, "other"), pathIn(home)))
	requireDamaged(t, home)
	require.NoError(t, f.Remove(operation))
	assert.FileExists(t, filepath.Join(home, "other"), "the link alone goes")

	require.NoError(t, os.Mkdir(pathIn(home), 0o700))
	_, err = f.Check(operation)
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorIs(t, f.Remove(operation), ErrUnusable)
	assert.DirExists(t, pathIn(home))
}

func TestATrashThatIsNoFolder(t *testing.T) {
	outside, home := t.TempDir(), t.TempDir()
	path := filepath.Join(home, FolderName)
	for name, put := range map[string]func() error{
		"a file":                         func() error { return os.WriteFile(path, nil, 0o600) },
		"a link to outside":              func() error { return os.Symlink(outside, path) },
		"a link to outside, the far way": func() error { return os.Symlink("../"+filepath.Base(outside), path) },
		"a link to nothing":              func() error { return os.Symlink("nothing", path) },
		"a link to a file": func() error {
			return errors.Join(os.WriteFile(filepath.Join(home, "file"), nil, 0o600), os.Symlink("file", path))
		},
	} {
		require.NoError(t, put(), name)
		_, err := Open(home)
		assert.ErrorIs(t, err, ErrUnusable, name)
		require.NoError(t, os.Remove(path))
	}
	inside, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, inside)
}

func TestATrashThatIsALinkInside(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, "elsewhere"), 0o700))
	for _, target := range []string{"elsewhere", filepath.Join(home, "elsewhere")} {
		require.NoError(t, os.Symlink(target, filepath.Join(home, FolderName)))
		f := write(t, home)
		assert.FileExists(t, filepath.Join(home, "elsewhere", operation+suffix))
		require.NoError(t, f.Remove(operation))
		require.NoError(t, os.Remove(filepath.Join(home, FolderName)))
	}
}

func TestIDsThatNameNoEntry(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	for _, id := range []string{"", ".", "..", "../trash/" + operation, operation + suffix, strings.ToUpper(operation), operation[1:], operation + "\n"} {
		require.ErrorIs(t, f.Remove(id), ErrNotFound, "%q", id)
		require.ErrorIs(t, f.Read(id, ignore), ErrNotFound, "%q", id)
	}
	put := func(name string) { require.NoError(t, os.WriteFile(filepath.Join(home, FolderName, name), nil, 0o600)) }
	put("README")
	put("other" + suffix)
	put(operation + suffix + ".01234567")
	put("other" + suffix + ".01234567.tmp")
	var checker Checker
	listing, err := checker.List(f, home)
	require.NoError(t, err)
	assert.Len(t, listing.Entries, 1)
	assert.Empty(t, listing.Unreadable, "what is no entry by its name is not ours")
	before := namesIn(t, home)
	put(operation + suffix + ".01234567.tmp")
	put(strings.Repeat("f", 32) + suffix + ".x.tmp")
	require.NoError(t, f.RemoveTemporary())
	assert.Equal(t, before, namesIn(t, home), "temporary files of ours go, and nothing else")
}

// TestTheListSeesAChangedFile: what was read to its end once is not read again, unless the file is another by now.
func TestTheListSeesAChangedFile(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	var checker Checker
	list := func() Listing {
		listing, err := checker.List(f, home)
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
	listing, err := checker.List(open(t, home), home)
	require.NoError(t, err)
	var order string
	for _, e := range listing.Entries {
		order += e.OperationID[:1]
	}
	assert.Equal(t, "1302f", order)
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
	names, err := f.names()
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

// What could not be read again is not written.
func TestAHeaderThatIsTooLong(t *testing.T) {
	home := t.TempDir()
	long := header
	long.Title = strings.Repeat("x", maxHeader)
	_, err := open(t, home).Begin(long)
	require.ErrorIs(t, err, ErrUnusable)
	assert.Empty(t, namesIn(t, home))
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
	require.ErrorIs(t, err, ErrUnusable)
	w.Discard()
}

// A reader stops where whoever uses the rows fails, with that error.
func TestAnErrorOfTheUseIsNoDamage(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	err := f.Read(operation, func(Row) error { return os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
	assert.NotErrorIs(t, err, ErrDamaged)
}

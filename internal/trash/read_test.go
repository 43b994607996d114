package trash

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// A reader stops where whoever uses the rows fails, with that error.
func TestAnErrorOfTheUseIsNoDamage(t *testing.T) {
	home := t.TempDir()
	f := write(t, home)
	err := f.Read(t.Context(), operation, func(Row) error { return os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
	assert.NotErrorIs(t, err, ErrDamaged)
}

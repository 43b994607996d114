package statedb

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(v any) string {
	var out bytes.Buffer
	d := document{out: bufio.NewWriter(&out)}
	d.value(v)
	_ = d.out.Flush()
	return out.String()
}

func TestValuesOfSQLiteInJSON(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{int64(0), `0`},
		{int64(math.MinInt64), `-9223372036854775808`},
		{int64(9007199254740993), `9007199254740993`},
		{1790000000.0, `1790000000.0`},
		{0.1, `0.1`},
		{-2.5e-7, `-0.00000025`},
		{1e300, `1e+300`},
		{5e-324, `5e-324`},
		{math.Copysign(0, -1), `-0.0`},
		{math.Inf(1), `9e999`},
		{math.Inf(-1), `-9e999`},
		{"", `""`},
		{"a\"b\\c/<&>", `"a\"b\\c/<&>"`},
		{"\x00\x1f\n\r\x7f", `"\u0000\u001f\u000a\u000d` + "\x7f" + `"`},
		{"ü 漢 😀 \u2028 \uFFFD", "\"ü 漢 😀 \u2028 \uFFFD\""},
		{"\xff\xfe", `{"base64":"//4=","text":true}`},
		{"\xed\xa0\x80", `{"base64":"7aCA","text":true}`}, // half of a surrogate pair
		{[]byte("text"), `{"base64":"dGV4dA=="}`},
		{[]byte{}, `{"base64":""}`},
	} {
		assert.Equal(t, c.want, written(c.value), "%v", c.value)
	}
}

func FuzzTextInJSONIsTheSameText(f *testing.F) {
	for _, seed := range []string{"", `"\`, "\x00", "\xff", "a\xc3", "\U0010FFFF\u2029", strings.Repeat("ü\n", 99)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := written(text)
		require.True(t, utf8.ValidString(got))
		if utf8.ValidString(text) {
			var back string
			require.NoError(t, json.Unmarshal([]byte(got), &back), got)
			require.Equal(t, text, back)
			return
		}
		var back struct {
			Base64 []byte `json:"base64"`
			Text   bool   `json:"text"`
		}
		require.NoError(t, json.Unmarshal([]byte(got), &back), got)
		require.Equal(t, text, string(back.Base64))
		require.True(t, back.Text)
	})
}

func FuzzARealInJSONIsTheSameReal(f *testing.F) {
	for _, seed := range []float64{0, 1, -1.5, math.MaxFloat64, 1e21, 123456789012345678} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, number float64) {
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return // the one is NULL in SQLite, the others are in TestValuesOfSQLiteInJSON
		}
		text := written(number)
		require.True(t, json.Valid([]byte(text)), text)
		require.True(t, strings.ContainsAny(text, ".e"), text)
		back, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(number), math.Float64bits(back))
	})
}

// TestAColumnsNameIsAlwaysJSON shows names that no value could have.
func TestAColumnsNameIsAlwaysJSON(t *testing.T) {
	var out bytes.Buffer
	d := document{out: bufio.NewWriter(&out)}
	d.text("a\xffb\xc3")
	require.NoError(t, d.out.Flush())
	assert.Equal(t, "\"a\uFFFDb\uFFFD\"", out.String())
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestADocumentKeepsItsFirstError(t *testing.T) {
	d := document{out: bufio.NewWriterSize(failingWriter{}, 16)}
	require.NoError(t, d.failed())
	d.text(strings.Repeat("x", 100))
	require.ErrorContains(t, d.failed(), "full")
}

func TestTokenizers(t *testing.T) {
	for create, want := range map[string]string{
		`CREATE VIRTUAL TABLE f USING fts5(content)`:                                         "unicode61",
		`CREATE VIRTUAL TABLE f USING fts5(content, tokenize='trigram')`:                     "trigram",
		`create virtual table if not exists f using FTS5(a,tokenize = "porter unicode61",b)`: "porter unicode61",
		`CREATE VIRTUAL TABLE f USING fts5(a, tokenize = trigram)`:                           "trigram",
		`CREATE VIRTUAL TABLE f USING fts5(a, tokenize='unicode61 tokenchars ''-_''')`:       "unicode61 tokenchars '-_'",
		`CREATE VIRTUAL TABLE f USING fts4(a)`:                                               "simple",
	} {
		got, ok := tokenizerOf(create)
		assert.True(t, ok, create)
		assert.Equal(t, want, got, create)
	}
	_, ok := tokenizerOf(`CREATE VIRTUAL TABLE r USING rtree(id, a, b)`)
	assert.False(t, ok)
}

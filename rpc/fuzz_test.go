package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzLineReader compares the reader with what the lines of the whole text are.
func FuzzLineReader(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "a", "a\nb", "a\r\n\r\nb\r", "\n\n \n\t\r\na\n", "0123456789012345678", "01234567890123456789\n", "01234567890123456789\r\n",
		"012345678901234567890\nafter", "012345678901234567890", "01234567890123456789\r\r\nafter\n", "                         \nafter",
		"0123456789012345678901234567890123456789012345678901234567890123456789\r\nafter\xff", "0123456789012345\n", "\u0085\n\r\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 20
		for _, stream := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text))} {
			lines := &lineReader{bufio.NewReaderSize(stream, 16), limit}
			for _, want := range bytes.Split(text, []byte("\n")) {
				want = bytes.TrimSuffix(want, []byte("\r"))
				tooLong := len(want) > limit
				if !tooLong && len(bytes.TrimSpace(want)) == 0 {
					continue
				}
				got, err := lines.next()
				require.Equal(t, tooLong, errors.Is(err, errLineTooLong), "%q", want)
				if !tooLong {
					require.NoError(t, err)
					require.Equal(t, want, got)
				}
			}
			_, err := lines.next()
			require.Equal(t, io.EOF, err)
		}
	})
}

// FuzzDecodeRequest holds whatever comes in against what must always be true of the answer.
func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{}}`, `{"jsonrpc":"2.0","method":"a"}`, `[]`, `null`, `"`, `{`, ``, ` `, "\xff",
		`{"jsonrpc":"2.0","id":"\ud83d\ude42","method":"\u0061"}`, `{"id":"\ud83d"}`, `{"id":1,"\u0069d":2}`, `{"ID":1}`, `{"id":-0e1}`,
		`{"a":[[[{"b":1,"b":2}]]]}`, `{"id":1}{"id":2}`, "\ufeff{}", `{"":"","":""}`, `{"id":"\\ud800"}`, `{"id": 1 , "jsonrpc":"2.0","method":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, answerTo, failure := decodeRequest(line)
		require.NotEqual(t, r == nil, failure == nil, "either a request or a failure")
		require.True(t, isID(answerTo) || string(answerTo) == "null")
		require.True(t, json.Valid(resultFrame(answerTo, json.RawMessage(`1`))), "%q", answerTo)
		require.Contains(t, string(line)+"null", string(answerTo), "an id is as it was spelled")
		if failure != nil {
			require.Contains(t, []int{CodeParse, CodeInvalidRequest}, failure.Code)
			require.False(t, json.Valid(line) && utf8.Valid(line) && !bytes.ContainsRune(line, '\\') && failure.Code == CodeParse, "it is JSON")
			return
		}
		require.True(t, json.Valid(line) && utf8.Valid(line))
		require.NotEmpty(t, r.method)
		require.True(t, r.params == nil || json.Valid(r.params) && r.params[0] == '{')
		require.True(t, r.id == nil || string(r.id) == string(answerTo))
	})
}

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
		var fields map[string]json.RawMessage // what encoding/json makes of it; no key is there twice
		var method, version string
		require.NoError(t, json.Unmarshal(line, &fields))
		require.NoError(t, json.Unmarshal(fields["method"], &method))
		require.NoError(t, json.Unmarshal(fields["jsonrpc"], &version))
		require.Equal(t, "2.0", version)
		require.Equal(t, method, r.method)
		require.Equal(t, string(fields["id"]), string(r.id))
		require.Equal(t, string(fields["params"]), string(r.params))
	})
}

// FuzzRepeatedKeys holds the walk over the bytes against the tokens of encoding/json.
func FuzzRepeatedKeys(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1,"b":[{"a":1},{"a":1}],"c":{"a":{"a":1}}}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2},"a":3}`, `{"a":[1,"a",{"a":1,"c":[],"a":2}]}`,
		`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0}`, `{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"1":0}`,
		`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"9":0,"3":1}`, `{"x":{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0,"4":1},"y":"{"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if !utf8.Valid(line) || !json.Valid(line) || hasLoneSurrogate(line) || bytes.TrimLeft(line, " \t\r\n")[0] != '{' {
			return
		}
		want := repeats{}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		repeatsOf(t, decoder, 0, &want)
		require.Equal(t, want, repeatedKeys(line))
	})
}

func repeatsOf(t *testing.T, decoder *json.Decoder, depth int, found *repeats) {
	token, err := decoder.Token()
	require.NoError(t, err)
	delimiter, nested := token.(json.Delim)
	if !nested {
		return
	}
	seen := map[string]bool{}
	for decoder.More() {
		if delimiter == '{' {
			key, err := decoder.Token()
			require.NoError(t, err)
			if seen[key.(string)] {
				found.note(key.(string), depth == 0)
			}
			seen[key.(string)] = true
		}
		repeatsOf(t, decoder, depth+1, found)
	}
	_, err = decoder.Token()
	require.NoError(t, err)
}

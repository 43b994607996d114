package jsontext

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMembers(t *testing.T) {
	for text, want := range map[string][]string{
		`{}`: {}, " { \n} ": {},
		`{"a":1}`: {`"a"`, `1`},
		" {\t\"a\" : [1, {\"b\": 2}] ,\r\n\"\\\"\":\"},\" }": {`"a"`, `[1, {"b": 2}]`, `"\""`, `"},"`},
		`{"a":NaN,"a":-Infinity}`:                            {`"a"`, `NaN`, `"a"`, `-Infinity`},
	} {
		members, ok := Members([]byte(text))
		require.True(t, ok, text)
		got := []string{}
		for _, m := range members {
			got = append(got, string(m.Name), string(m.Value))
		}
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		``, ` `, `[]`, `null`, `"{}"`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a" 1}`, `{"a":}`, `{"a":,"b":1}`, `{}x`,
		`{"a":1}{}`, `{"a":1]`, `{"a":[}`, `{"a`, "\xef\xbb\xbf{}",
	} {
		_, ok := Members([]byte(text))
		assert.False(t, ok, text)
	}
}

// FuzzMembers holds the members of every JSON object against encoding/json.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":1}`, `{"a":[1,{"b":"}"}],"":"\\\"","a":null}`, ` { "é" : -1e9 } `, `{"a":1`, `[]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, ok := Members(text)
		if !json.Valid(text) {
			return // it need not say anything, but must come to its end
		}
		require.Equal(t, bytes.TrimLeft(text, " \t\r\n")[0] == '{', ok)
		if !ok {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		_, err := decoder.Token()
		require.NoError(t, err)
		for _, m := range members {
			var name string
			require.NoError(t, json.Unmarshal(m.Name, &name))
			token, err := decoder.Token()
			require.NoError(t, err)
			require.Equal(t, token, name)
			var value json.RawMessage
			require.NoError(t, decoder.Decode(&value))
			require.Equal(t, string(value), string(m.Value))
		}
		require.False(t, decoder.More())
	})
}

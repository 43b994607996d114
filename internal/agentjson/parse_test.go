package agentjson

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		` {"b": 1.50, "a": [1E5, -0, 9007199254740993]} `: `{"a":[1E5,-0,9007199254740993],"b":1.50}`,
		`{"a":1,"a":2}`:         `{"a":2}`,
		`"\ud800x"`:             "\"\ufffdx\"",
		`"<>&\u2028\u001f"`:     "\"<>&\u2028\\u001f\"",
		`null`:                  `null`,
		`{"a":{"x":{}},"A":[]}`: `{"A":[],"a":{"x":{}}}`,
	} {
		value, err := Parse(text)
		require.NoError(t, err, text)
		got, err := Encode(value)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{``, `{`, `{} x`, `{}{}`, `NaN`, `{"a":}`} {
		_, err := Parse(text)
		require.Error(t, err, text)
	}
}

func TestRepeatsName(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}`: false,
		`{"a":1,"a":1}`:                       true,
		`{"a":1,"\u0061":1}`:                  true,
		`{"x":{"a":[1,{"y":2}],"b":1,"a":2}}`: true,
		`{"x":[{"a":{},"a":1}]}`:              true,
		`{"a":"a","b":"a"}`:                   false,
		`["a","a"]`:                           false,
		`{"a":["a","a"],"b":{}}`:              false,
		`"a"`:                                 false,
		`{}`:                                  false,
		`{"a":{},"b":[],"a":1}`:               true,
	} {
		assert.Equal(t, want, RepeatsName(text), text)
	}
}

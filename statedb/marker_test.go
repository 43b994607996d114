package statedb

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// names is a marker that names an id.
func names(id string) marker { return marker{present: true, value: id} }

func delegatedTo(id string) markers { return markers{readable: true, delegate: names(id)} }

func TestReadMarkers(t *testing.T) {
	empty := markers{readable: true}
	for name, test := range map[string]struct {
		config *string
		want   markers
	}{
		"NULL":              {nil, empty},
		"empty":             {new(""), empty},
		"an empty object":   {new("{}"), empty},
		"other keys":        {new(`{"model":"m","nested":{"_delegate_from":"p"},"list":["_delegate_from"]}`), empty},
		"all three":         {new(`{"_delegate_from":"a","_branched_from":"b","_reset_from":"c"}`), markers{true, names("a"), names("b"), names("c")}},
		"white space":       {new(" \t\r\n{ \"_delegate_from\" :\t\"a\" } \n"), delegatedTo("a")},
		"null is no marker": {new(`{"_delegate_from":null,"_branched_from":"b"}`), markers{readable: true, branch: names("b")}},
		"the last of two":   {new(`{"_delegate_from":"a","_delegate_from":"b"}`), delegatedTo("b")},
		"null as the last":  {new(`{"_delegate_from":"a","_delegate_from":null}`), empty},
		"null as the first": {new(`{"_delegate_from":null,"_delegate_from":"b"}`), delegatedTo("b")},
		"another case":      {new(`{"_Delegate_From":"a","_DELEGATE_FROM":"b","_branched_From":"c"}`), empty},
		"case and the key":  {new(`{"_delegate_from":"a","_DELEGATE_FROM":"b"}`), delegatedTo("a")},
		"an escaped key":    {new(`{"\u005fdelegate_from":"a"}`), delegatedTo("a")},
		"all escaped":       {new(`{"\u005F\u0064\u0065\u006c\u0065\u0067\u0061\u0074\u0065\u005f\u0066\u0072\u006f\u006d":"a"}`), delegatedTo("a")},
		"an escaped value":  {new(`{"_delegate_from":"\u0061\/b"}`), delegatedTo("a/b")},
		"NaN beside it":     {new(`{"t":NaN,"_delegate_from":"a","u":[Infinity,-Infinity,NaN]}`), delegatedTo("a")},
		"NaN in a string":   {new(`{"t":NaN,"_delegate_from":"NaN and \"Infinity\" -Infinity"}`), delegatedTo(`NaN and "Infinity" -Infinity`)},
		"NaN in a key":      {new(`{"NaN":Infinity,"_delegate_from":"a"}`), delegatedTo("a")},
		"an empty string":   {new(`{"_delegate_from":""}`), delegatedTo("")},
		"a number":          {new(`{"_delegate_from":5}`), markers{readable: true, delegate: marker{true, 5.0}}},
		"NaN itself":        {new(`{"_delegate_from":NaN}`), markers{readable: true, delegate: marker{true, 0.0}}},
		"false":             {new(`{"_delegate_from":false}`), markers{readable: true, delegate: marker{true, false}}},
		"an array":          {new(`{"_delegate_from":["a"]}`), markers{readable: true, delegate: marker{true, []any{"a"}}}},
		"an object":         {new(`{"_delegate_from":{"id":"a"}}`), markers{readable: true, delegate: marker{true, map[string]any{"id": "a"}}}},
		"half a character":  {new(`{"_delegate_from":"a\ud800"}`), delegatedTo("a\ufffd")},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, readMarkers(test.config)) })
	}
}

func TestUnreadableConfigs(t *testing.T) {
	for name, config := range map[string]string{
		"text":                     "model",
		"white space":              " ",
		"an array":                 `[{"_delegate_from":"a"}]`,
		"a string":                 `"_delegate_from"`,
		"null":                     `null`,
		"a number":                 `1`,
		"NaN":                      `NaN`,
		"cut off":                  `{"_delegate_from":"a"`,
		"cut off in a string":      `{"_delegate_from":"a`,
		"cut off behind an escape": `{"t":NaN,"_delegate_from":"a\`,
		"a trailing comma":         `{"_delegate_from":"a",}`,
		"two documents":            `{"_delegate_from":"a"}{}`,
		"Python's own spelling":    `{'_delegate_from':'a'}`,
		"a raw line break":         "{\"_delegate_from\":\"a\nb\"}",
		"a comment":                `{"_delegate_from":"a"/**/}`,
		"an unquoted key":          `{_delegate_from:"a"}`,
		"NaN as a key":             `{NaN:1,"_delegate_from":"a"}`,
		"-NaN":                     `{"t":-NaN,"_delegate_from":"a"}`,
		"+Infinity":                `{"t":+Infinity,"_delegate_from":"a"}`,
		"Infinity1":                `{"t":Infinity1,"_delegate_from":"a"}`,
		"1NaN":                     `{"t":1NaN,"_delegate_from":"a"}`,
		"nan":                      `{"t":nan,"_delegate_from":"a"}`,
		"not UTF-8":                "{\"_delegate_from\":\"a\xff\"}",
		"not UTF-8 elsewhere":      "{\"_delegate_from\":\"a\",\"t\":\"\xff\"}",
		"a NUL":                    "{\"_delegate_from\":\"a\"}\x00",
		"a byte order mark":        "\ufeff{\"_delegate_from\":\"a\"}",
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, markers{}, readMarkers(&config)) })
	}
}

// Python reads a number of any size: it is a marker that names no row.
func TestNumbersThatAreTooLarge(t *testing.T) {
	for _, number := range []string{"1e999", "-1e999", strings.Repeat("9", 400)} {
		m := readMarkers(new(`{"_delegate_from":` + number + `,"_branched_from":"b"}`))
		assert.True(t, m.delegate.present, number)
		_, ok := m.delegate.target()
		assert.False(t, ok, number)
		assert.False(t, m.delegate.compound(), number)
		assert.Equal(t, names("b"), m.branch)
	}
}

func TestMarkerNames(t *testing.T) {
	assert.True(t, names("a").names("a"))
	assert.False(t, names("a").names("b"))
	assert.False(t, marker{}.names(""))
	assert.False(t, marker{true, 5.0}.names("5"))
	target, ok := names("a").target()
	assert.True(t, ok)
	assert.Equal(t, "a", target)
	for value, compound := range map[string]bool{`"a"`: false, `5`: false, `true`: false, `[]`: true, `{}`: true, `[1]`: true} {
		m := readMarker(json.RawMessage(value))
		assert.True(t, m.present)
		assert.Equal(t, compound, m.compound(), value)
	}
	assert.False(t, readMarker(nil).present)
	assert.False(t, readMarker(json.RawMessage("null")).compound())
}

func TestMarkersAsAWhole(t *testing.T) {
	assert.False(t, markers{}.any())
	assert.False(t, markers{readable: true}.any())
	for i := range 3 {
		m := []markers{delegatedTo("p"), {branch: names("p")}, {reset: names("p")}}[i]
		assert.True(t, m.any())
		assert.True(t, m.anyNames("p"))
		assert.False(t, m.anyNames("q"))
		assert.Equal(t, markers{readable: m.readable}, m.without(m))
		assert.Equal(t, m, m.without(markers{}))
		assert.Equal(t, m, m.without(markers{delegate: names("q"), branch: names("q"), reset: names("q")}))
		assert.Equal(t, markers{}, markers{}.without(m))
	}
	assert.True(t, markers{delegate: marker{true, 5.0}}.any(), "one that names nothing is there all the same")
	nested := marker{true, map[string]any{"a": []any{1.0}}}
	same := marker{true, map[string]any{"a": []any{1.0}}}
	assert.Equal(t, markers{}, markers{branch: nested}.without(markers{branch: same}))
	assert.Equal(t, markers{branch: names("p")}, markers{branch: names("p")}.without(markers{reset: names("p")}), "each its own kind")
}

// FuzzReadMarkers reads any text without a panic, and what it reads is what JSON says where the text is plain JSON.
func FuzzReadMarkers(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"_delegate_from":"a"}`, `{"\u005fdelegate_from":null}`, `{"t":NaN,"_reset_from":"NaN"}`, `{"a":"\`, `"`, `{"_`,
		`{"_delegate_from":[1e999]}`, "{\"_branched_from\":\"\xff\"}", `{"_delegate_from":"a","_delegate_from":{}}`, `-Infinity`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := readMarkers(&text)
		replaced := string(replacePythonNumbers([]byte(text)))
		if !strings.Contains(text, "NaN") && !strings.Contains(text, "Infinity") {
			require.Equal(t, text, replaced)
		}
		if !m.readable {
			require.Equal(t, markers{}, m)
			return
		}
		require.True(t, utf8.ValidString(text))
		if !json.Valid([]byte(text)) {
			return // NaN, or the empty text
		}
		var plain map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text), &plain))
		for key, got := range map[string]marker{keyDelegate: m.delegate, keyBranch: m.branch, keyReset: m.reset} {
			raw := plain[key]
			require.Equal(t, len(raw) > 0 && string(raw) != "null", got.present)
			var id string
			isText := json.Unmarshal(raw, &id) == nil && got.present
			target, ok := got.target()
			require.Equal(t, isText, ok)
			require.Equal(t, id, target)
		}
	})
}

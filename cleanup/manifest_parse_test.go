package cleanup

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/internal/sessionid"
)

// unreadable are contents that are no array of strings, in every way that another program or a crash may leave.
var unreadable = map[string]string{
	"cut off":              `["orphan"`,
	"cut off in a string":  `["orphan`,
	"an object":            `{"orphan":true}`,
	"a number in it":       `[123]`,
	"a null in it":         `[null]`,
	"null after a string":  `["orphan",null]`,
	"an array in it":       `["orphan",["x"]]`,
	"a bool in it":         `["orphan",true]`,
	"zero bytes":           ``,
	"white space":          " \n",
	"null":                 `null`,
	"a string":             `"orphan"`,
	"a number":             `1`,
	"not UTF-8":            "[\"orphan\xff\"]",
	"UTF-16":               "\xff\xfe[\x00]\x00",
	"a byte order mark":    "\xef\xbb\xbf[\"orphan\"]",
	"two documents":        `["orphan"]["x"]`,
	"text behind":          `["orphan"] x`,
	"a trailing comma":     `["orphan",]`,
	"a raw line break":     "[\"orphan\n\"]",
	"a bad escape":         `["orphan\x"]`,
	"single quotes":        `['orphan']`,
	"NULs":                 "\x00\x00\x00\x00",
	"NULs behind":          "[\"orphan\"]\x00\x00",
	"nested without bound": strings.Repeat("[", 11_000),
}

func TestParseRefuses(t *testing.T) {
	for name, text := range unreadable {
		t.Run(name, func(t *testing.T) {
			entries, err := parseManifest([]byte(text))
			require.Error(t, err)
			assert.Empty(t, entries)
		})
	}
}

func TestParseKeepsTheBytesOfEachEntry(t *testing.T) {
	entries, err := parseManifest([]byte(" [ \"b\" ,\n\"\\u0041\", \"a\\/b\", \"\", \"\\ud800\", \"ä\" , \"b\"]\n"))
	require.NoError(t, err)
	assert.Equal(t, []entry{
		{"b", json.RawMessage(`"b"`)},
		{"A", json.RawMessage(`"\u0041"`)},
		{"a/b", json.RawMessage(`"a\/b"`)},
		{"", json.RawMessage(`""`)},
		{"\ufffd", json.RawMessage(`"\ud800"`)},
		{"ä", json.RawMessage(`"ä"`)},
		{"b", json.RawMessage(`"b"`)},
	}, entries)
	assert.Equal(t, `["b","\u0041","a\/b","","\ud800","ä","b"]`, string(encodeEntries(entries)))
	assert.False(t, sessionid.Safe(entries[4].id), "half a character names no session")
}

func TestParseOfNothing(t *testing.T) {
	entries, err := parseManifest([]byte("[ ]"))
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestNamesOfManifests(t *testing.T) {
	for name, want := range map[string][2]bool{ // is a manifest, is a temporary one
		manifestName("1"):                   {true, false},
		".cleanup_manifest_of_another.json": {true, false},
		".cleanup_manifest_.json":           {true, false},
		manifestName("1") + ".0a0b0c0d.tmp": {false, true},
		".cleanup_manifest_of_another.tmp":  {false, true},
		"cleanup_manifest_1.json":           {false, false},
		".cleanup_manifest_1.jsonl":         {false, false},
		".cleanup_manifest_1.json.bak":      {false, false},
		"x.cleanup_manifest_1.json":         {false, false},
		"x.tmp":                             {false, false},
		".cleanup_manifest.json":            {false, false},
	} {
		assert.Equal(t, want, [2]bool{isManifest(name), isTemporary(name)}, name)
	}
}

// FuzzParseManifest compares with encoding/json, which reads a null as an empty string and a broken character silently.
func FuzzParseManifest(f *testing.F) {
	for _, text := range unreadable {
		f.Add([]byte(text))
	}
	for _, text := range []string{`[]`, `["a"]`, `["\u0041","b"]`, "[\n\"a\" , \"\\ud800\"\t]", `["a","a"]`, `[""]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := parseManifest(text)
		var plain []any
		plainErr := json.Unmarshal(text, &plain)
		if err != nil {
			assert.Empty(t, entries)
			return
		}
		require.NoError(t, plainErr)
		require.Len(t, plain, len(entries))
		for i, e := range entries {
			require.Equal(t, plain[i], e.id)
		}
		again, err := parseManifest(encodeEntries(entries))
		require.NoError(t, err)
		require.Equal(t, entries, again)
	})
}

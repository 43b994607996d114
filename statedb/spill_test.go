package statedb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhichSpilledFilesATextNames(t *testing.T) {
	const direct, below = "cache/spillover/call_1.txt", "cache/spillover/tool-results/call_1.txt"
	for text, want := range map[string][]string{
		"Full output saved to: /h/cache/spillover/call_1.txt\nUse":           {direct},
		"/h/cache/spillover/tool-results/call_1.txt":                         {below},
		"tool-results/call_1.txt and spillover/call_1.txt.":                  {direct, below},
		`{"path":"\/h\/cache\/spillover\/call_1.txt\nUse"}`:                  {direct},
		`C:\Users\x\cache\spillover\tool-results\call_1.txt`:                 {below},
		`"{\"path\":\"C:\\\\h\\\\cache\\\\spillover\\\\call_1.txt\"}"`:       {direct},
		"spillover//call_1.txt":                                              {direct},
		"(spillover/call_1.txt)...":                                          {direct},
		"call_1.txt":                                                         nil,
		"/h/cache/spillover/":                                                nil,
		"/h/other/call_1.txt":                                                nil,
		"/tmp/hermes-results/call_1.txt":                                     nil,
		"spillover/call_1.txt.bak spillover/call_1.txt-2 spillover/call_1.t": nil,
		"spillover/xcall_1.txt my-spillover/call_1.txt":                      nil,
		"my.spillover/call_1.txt":                                            nil,
		"Spillover/call_1.txt spillover/CALL_1.txt":                          nil,
		"spillover/call_2.txt":                                               nil,
		"":                                                                   nil,
	} {
		r := newSpillReader([]string{direct, below})
		r.read(text)
		assert.Equal(t, want, sortedKeys(r.named), "%s", text)
	}
}

// Names with other characters than the Agent gives today: as they are, and as JSON spells them.
func TestWhichOddlyNamedFilesATextNames(t *testing.T) {
	const folder = "cache/spillover/"
	files := []string{
		folder + "call:0.txt", folder + "call", folder + ".hid", folder + "a", folder + "a b.txt", folder + "\u00e9.txt",
		folder + "\U0001F600", folder + "x<y>", folder + "tool-results/\u65e5\u672c", folder + "100%.txt",
	}
	for text, want := range map[string][]string{
		"saved to /h/cache/spillover/call:0.txt\nUse": {"call:0.txt"},
		"/h/cache/spillover/call: it":                 {"call"},
		"see spillover/.hid.":                         {".hid"},
		"spillover/.hidden":                           nil,
		"spillover/a b.txt":                           {"a b.txt"},
		"spillover/a c.txt":                           {"a"},
		"spillover/a b.txt and spillover/a":           {"a", "a b.txt"},
		`C:\cache\spillover\a b.txt`:                  {"a b.txt"},
		"spillover/\u00e9.txt":                        {"\u00e9.txt"},
		"spillover/\u00e9.txt\u00e9":                  nil,
		"spillover/a\u00e9":                           nil,
		"\u00e9spillover/a":                           nil,
		"\u201cspillover/a\u201d":                     {"a"},
		`{"p":"\/h\/cache\/spillover\/\u00e9.txt"}`:   {"\u00e9.txt"},
		`"{\"p\":\"spillover/\\u00E9.txt\"}"`:         {"\u00e9.txt"},
		`"spillover/\ud83d\ude00"`:                    {"\U0001F600"},
		`"spillover/x\u003cy\u003e"`:                  {"x<y>"},
		`"spillover/tool-results/\u65e5\u672c\n"`:     {"tool-results/\u65e5\u672c"},
		"tool-results/\u65e5\u672c\u3002":             {"tool-results/\u65e5\u672c"},
		"tool-results/\u65e5":                         nil,
		`spillover/\u00g9.txt`:                        nil,
		"spillover/100%.txt":                          {"100%.txt"},
	} {
		r := newSpillReader(files)
		r.read(text)
		var named []string
		for _, file := range sortedKeys(r.named) {
			named = append(named, strings.TrimPrefix(file, folder))
		}
		assert.Equal(t, want, named, "%s", text)
	}
}

func TestWhatIsASpilledFile(t *testing.T) {
	for file, want := range map[string]bool{
		"cache/spillover/call_1.txt": true, "cache/spillover/tool-results/a-B.9.txt": true, "cache/spillover/x": true,
		"cache/spillover/.hidden": true, "cache/spillover/a b.txt": true, "cache/spillover/\u00e9.txt": true, "cache/spillover/a:0": true,
		"cache/spillover/": false, "cache/spillover/tool-results": false, "cache/spillover/.": false, "cache/spillover/..": false,
		"cache/spillover/a/b.txt": false, "cache/spillover/tool-results/../x": false, `cache/spillover/a\b`: false,
		"cache/spillover/tool-results/": false, "cache/spillover/tool-results/..": false, `cache/spillover/a"b`: false,
		"cache/x.txt": false, "/cache/spillover/x": false, "sessions/x.json": false, "cache/spillover/x\n": false, "": false,
		"cache/spillover/\x7f": false, "cache/spillover/\u0085": false, "cache/spillover/\xff": false, "cache/spillover/a\x00": false,
		"cache/spillover//x": false, "cache/./spillover/x": false, "x": false,
	} {
		assert.Equal(t, want, isSpilled(file), "%q", file)
	}
}

func TestSpillNoteReadsWhatItWrites(t *testing.T) {
	note := SpillNote{"op", []string{"cache/spillover/x.txt"}, []string{"a<b>\u2028", "b"}}
	text, err := note.encode()
	assert.NoError(t, err)
	assert.Equal(t, `{"files":["cache/spillover/x.txt"],"session_ids":["a<b>`+"\u2028"+`","b"]}`, text)
	got, ok := parseSpillNote("op", text)
	assert.True(t, ok)
	assert.Equal(t, note, got)
	text, err = SpillNote{"op", nil, []string{"\xff"}}.encode()
	assert.NoError(t, err)
	assert.Equal(t, `{"files":[],"session_ids":["`+"\uFFFD"+`"]}`, text)
}

func TestSpillNoteOfAnotherForm(t *testing.T) {
	for _, text := range []string{
		"", "null", "[]", "{", `{"files":["cache/spillover/x"]}`, `{"session_ids":[]}`, `{"files":"x","session_ids":[]}`,
		`{"files":[1],"session_ids":[]}`, `{"Files":[],"session_ids":[]}`, `{"files":null,"session_ids":[]}`, `{"files":[],"session_ids":null}`, `{"files":["sessions/x.json"],"session_ids":[]}`,
		`{"files":["cache/spillover/x","cache/spillover/../x"],"session_ids":["a"]}`,
	} {
		_, ok := parseSpillNote("op", text)
		assert.False(t, ok, text)
	}
}

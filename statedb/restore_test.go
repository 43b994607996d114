package statedb

import (
	"encoding/json"
	"maps"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const newP, newQ = "restored-0000000000000001", "restored-0000000000000002"

var renamedPQ = map[string]string{"P": newP, "Q": newQ}

func TestRestoredConfig(t *testing.T) {
	for text, want := range map[string]string{
		``:                         ``,
		`{}`:                       `{}`,
		`no JSON _delegate_from`:   `no JSON _delegate_from`,
		`["_delegate_from","P"]`:   `["_delegate_from","P"]`,
		`{"_delegate_from":"P"`:    `{"_delegate_from":"P"`,
		`{"_delegate_from":"P"}`:   `{"_delegate_from": "` + newP + `"}`,
		`{"_delegate_from":"X"}`:   `{}`,
		`{"_delegate_from":null}`:  `{}`,
		`{"_delegate_from":""}`:    `{}`,
		`{"_delegate_from":7}`:     `{}`,
		`{"_delegate_from":NaN}`:   `{}`,
		`{"_delegate_from":["P"]}`: `{}`,
		`{"_branched_from":"P","_reset_from":"Q","_delegate_from":"X"}`:         `{"_branched_from": "` + newP + `", "_reset_from": "` + newQ + `"}`,
		`{"\u005fdelegate_from":"\u0050"}`:                                      `{"\u005fdelegate_from": "` + newP + `"}`,
		`{"_delegate_from":"X","_delegate_from":"P"}`:                           `{"_delegate_from": "` + newP + `"}`,
		`{"_delegate_from":"P","_delegate_from":"X"}`:                           `{}`,
		`{"_delegate_from":"P","\u005fdelegate_from":null,"a":1}`:               `{"a": 1}`,
		`{"_Delegate_From":"P","x":"_delegate_from"}`:                           `{"_Delegate_From":"P","x":"_delegate_from"}`,
		` { "a" : NaN , "_reset_from" : "P" , "b" : { "_reset_from" : "P" } } `: `{"a": NaN, "_reset_from": "` + newP + `", "b": { "_reset_from" : "P" }}`,
		`{"a":1.50,"a":"\u00e9","_reset_from":"X","c":-Infinity}`:               `{"a": 1.50, "a": "\u00e9", "c": -Infinity}`,
	} {
		assert.Equal(t, want, restoredConfig(text, renamedPQ), "%s", text)
	}
}

func TestRestoredSession(t *testing.T) {
	cells := map[string]any{
		"id": "P", "parent_session_id": "Q", "source": "cli", "title": "t", "started_at": 1.5, "blob": []byte{0},
		"session_key": "k", "chat_id": "c", "chat_type": "d", "thread_id": "h", "user_id": "u", "Origin_JSON": "{}",
		"runtime_generation": int64(7), "runtime_revision": int64(8), "model_config": []byte(`{"_branched_from":"Q"}`),
	}
	before := maps.Clone(cells)
	assert.Equal(t, map[string]any{
		"id": newP, "parent_session_id": newQ, "source": "cli", "title": "t", "started_at": 1.5, "blob": []byte{0},
		"model_config": []byte(`{"_branched_from": "` + newQ + `"}`),
	}, restoredSession(cells, renamedPQ))
	assert.Equal(t, before, cells)
	for _, stranger := range []any{nil, "X", "", int64(5), []byte("P")} {
		assert.Nil(t, restoredSession(map[string]any{"id": "P", "parent_session_id": stranger}, renamedPQ)["parent_session_id"], stranger)
	}
}

// TestNothingNamesNoMember: NULL is not the id "".
func TestNothingNamesNoMember(t *testing.T) {
	empty := map[string]string{"P": newP, "": newQ}
	row := restoredSession(map[string]any{"id": "P", "parent_session_id": nil, "model_config": `{"_reset_from":null,"_branched_from":7}`}, empty)
	assert.Equal(t, map[string]any{"id": newP, "parent_session_id": nil, "model_config": `{}`}, row)
	assert.Equal(t, newQ, restoredSession(map[string]any{"id": "", "parent_session_id": ""}, empty)["parent_session_id"])
}

// FuzzRestoredConfig holds what a restore makes of any model_config against what the Agent reads in it before and after.
func FuzzRestoredConfig(f *testing.F) {
	for _, text := range []string{
		`{"_delegate_from":"P"}`, `{"_delegate_from":"X","_delegate_from":"P","a":[1,{"b":NaN}]}`, `{"\u005freset_from":"Q","":"\\\""}`, `{"a":"}","_branched_from":7}`,
		`{"_delegate_from":"""","_delegate_from":"P"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, restored := readMarkers(&text), restoredConfig(text, renamedPQ)
		after := readMarkers(&restored)
		if !before.readable {
			if utf8.ValidString(text) {
				require.False(t, after.any(), "%q became %q", text, restored)
			}
			return
		}
		require.True(t, after.readable, "%q became %q", text, restored)
		for _, pair := range [][2]marker{{before.delegate, after.delegate}, {before.branch, after.branch}, {before.reset, after.reset}} {
			named, _ := pair[0].target()
			want := marker{}
			if to, member := renamedPQ[named]; member {
				want = newMarker(to)
			}
			require.Equal(t, want, pair[1], "%q became %q", text, restored)
		}
		if text != "" {
			require.Equal(t, othersIn(t, text), othersIn(t, restored), "%q became %q", text, restored)
		}
	})
}

// othersIn are the members that are no markers.
func othersIn(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	others := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(replacePythonNumbers([]byte(text)), &others))
	for _, name := range []string{keyDelegate, keyBranch, keyReset} {
		delete(others, name)
	}
	return others
}

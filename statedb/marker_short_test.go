package statedb

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMarkersAreReadAlikeWithAndWithoutDecoding compares the short way of readMarkers with the long one.
func TestMarkersAreReadAlikeWithAndWithoutDecoding(t *testing.T) {
	short := 0
	for _, text := range []string{
		`{}`, ` {} `, "\t\r\n{}", "\v{}", "\u00a0{}", "\ufeff{}", `{"model":"m"}`, `{"a":{"b":[1,2]}}`, `{"a":NaN}`,
		`{"a":-Infinity,"b":[Infinity]}`, `{"a":"NaN"}`, `{NaN:1}`, `NaN`, `{"a":1NaN}`, `{"a":1}{}`, `{"a":1},`, `{"a":1`, `{`, `}`,
		`[]`, `[{}]`, `null`, `1`, `"x"`, `text`, ` `, "{\"a\":\"\x01\"}", "{\"a\":1}\x00", `{"a":"\u4e2d"}`, `{"a":"\x"}`,
		`{"a":"\ud800"}`, `{"a":"\u12"}`, `{'a':1}`, `{"a":1,}`, `{"a":01}`, `{"":{}}`, `{"_Delegate_From":"x"}`,
		`{"_delegate_from":"x"}`, `{"\u005fdelegate_from":"x"}`, `{"_delegate\u005Ffrom":"x"}`, `{"_reset_from":"x"}`,
		`{"_branched_from":["x"]}`, `{"note":"_delegate_from"}`, `["_reset_from"]`,
	} {
		if !mayHoldMarker(text) {
			short++
		}
		assert.Equal(t, decodeMarkers(text), readMarkers(&text), "%q", text)
	}
	assert.Greater(t, short, 30, "most of these texts go the short way")
}

// TestMarkersInEscapes keeps the short way from missing a key that is spelled with escapes.
func TestMarkersInEscapes(t *testing.T) {
	for _, text := range []string{
		`{"_delegate_from":"x"}`, `{"\u005fdelegate_from":"x"}`, `{"_delegate\u005Ffrom":"x"}`, `{"_\u0064elegate_from":"x"}`,
	} {
		assert.True(t, readMarkers(&text).delegate.names("x"), text)
	}
}

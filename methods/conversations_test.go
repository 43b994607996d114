package methods

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"

	"session-sidecar/statedb"
)

func TestCursorComesBackAsItWas(t *testing.T) {
	for _, activity := range []float64{0, -1.5, 1790000000.123456, 0.1, 253402300800} {
		for _, root := range []string{"", "a", "20260101_000001_abcdef", "\xff\x00", "語", `"`} {
			for _, p := range []statedb.Position{{Activity: &activity, Root: root}, {Root: root}} {
				back, ok := readCursor(cursorOf(p))
				assert.True(t, ok, "%+v", p)
				assert.Equal(t, p, back)
			}
		}
	}
}

// TestForeignCursorsAreTold takes nothing that cursorOf does not write, letter by letter.
func TestForeignCursorsAreTold(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for _, text := range []string{
		"", "x", "!", encode(nil), encode([]byte("null")), encode([]byte("{}")), encode([]byte("[]")), encode([]byte(`{"root":null}`)),
		encode([]byte(`{"root":"YQ==","activity":1}`)), encode([]byte(`{"root":"YQ=="} `)), encode([]byte(`{"Root":"YQ=="}`)),
		encode([]byte(`{"activity":1e0,"root":"YQ=="}`)), encode([]byte(`{"activity":1e999,"root":"YQ=="}`)),
		encode([]byte(`{"root":"YQ==","more":1}`)), base64.URLEncoding.EncodeToString([]byte(`{"root":"YQ==" }`)),
	} {
		_, ok := readCursor(text)
		assert.False(t, ok, text)
	}
	_, ok := readCursor(encode([]byte(`{"activity":1,"root":"YQ=="}`)))
	assert.True(t, ok, "the form that all of these miss")
}

package sessionid

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var pattern = regexp.MustCompile(Pattern)

func TestSafeIsThePattern(t *testing.T) {
	for c := range 256 {
		for _, id := range []string{string([]byte{byte(c)}), string(rune(c)), "a" + string([]byte{byte(c)}), string([]byte{byte(c)}) + "z"} {
			assert.Equal(t, pattern.MatchString(id), Safe(id), "%q", id)
		}
	}
	for _, n := range []int{0, 1, 2, 127, 128, 129, 4096} {
		id := strings.Repeat("x", n)
		assert.Equal(t, n >= 1 && n <= 128, Safe(id), n)
		assert.Equal(t, pattern.MatchString(id), Safe(id), n)
	}
}

func FuzzSafe(f *testing.F) {
	for _, id := range []string{"", "20260101_120000_abc123", "a.b:c-d_e", "a\n", "é", "../x", "x\x00", strings.Repeat("x", 128), strings.Repeat("x", 129)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) { assert.Equal(t, pattern.MatchString(id), Safe(id), "%q", id) })
}

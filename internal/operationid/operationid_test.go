package operationid

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var pattern = regexp.MustCompile(Pattern)

func TestIsIsThePattern(t *testing.T) {
	rest := strings.Repeat("a", digits-1)
	for c := range 256 {
		for _, text := range []string{string([]byte{byte(c)}) + rest, rest + string([]byte{byte(c)}), rest + string(rune(c))} {
			assert.Equal(t, pattern.MatchString(text), Is(text), "%q", text)
		}
	}
	for n := range 2 * digits {
		text := strings.Repeat("0", n)
		assert.Equal(t, pattern.MatchString(text), Is(text), n)
	}
}

func TestNew(t *testing.T) {
	one, other := New(), New()
	assert.True(t, Is(one), one)
	assert.NotEqual(t, one, other)
}

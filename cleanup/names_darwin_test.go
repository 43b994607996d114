package cleanup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesAsMacOSReadsThem(t *testing.T) {
	for _, id := range []string{"20260101_101010_abcdef", "a:b", "NUL", "a."} {
		assert.True(t, canBeFileName(id), id)
		assert.True(t, canBeSpilled(id), id)
	}
	assert.True(t, sameFileName("Sessions.JSON", "sessions.json"))
	assert.False(t, sameFileName("sessions.jsonl", "sessions.json"))
	assert.True(t, protected("SESSIONS.json"), "the index is no artifact, however it is spelled")
}

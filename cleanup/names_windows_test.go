package cleanup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesAsWindowsReadsThem(t *testing.T) {
	for _, id := range []string{"20260101_101010_abcdef", "conx", "nul_1", "a.b"} {
		assert.True(t, canBeFileName(id), id)
		assert.True(t, canBeSpilled(id), id)
	}
	for _, id := range []string{"a:b", "c:", "NUL", "nul", "con", "COM1", "lpt9", "nul.txt", "CONIN$"} {
		assert.False(t, canBeFileName(id), id)
		assert.False(t, canBeSpilled(id), id)
	}
	for _, name := range []string{"a.", "a ", "a. ", "..."} {
		assert.False(t, canBeSpilled(name), name)
	}
	assert.True(t, sameFileName("Sessions.JSON", "sessions.json"))
	assert.False(t, sameFileName("sessions.jsonl", "sessions.json"))
	assert.True(t, protected("SESSIONS.json"), "the index is no artifact, however it is spelled")
}

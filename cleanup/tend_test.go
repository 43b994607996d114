package cleanup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of all that happens in a home, little wakes anybody.
func TestWhichEventsMatter(t *testing.T) {
	h := newWatchedHome(NewWatcher(discard), "/h", nil)
	h.folder = "/h/sessions"
	h.stuckIDs = map[string]bool{"V": true}
	for _, name := range []string{manifestName("1"), "V.json", "V.jsonl", "session_V.json", "request_dump_V_1.json", ""} {
		assert.True(t, h.happened("/h/sessions", name), name)
	}
	for _, name := range []string{"W.json", "sessions.json", manifestName("1") + ".1234.tmp", ".cleanup_manifest_1.txt", "V", storeName, FolderName} {
		assert.False(t, h.happened("/h/sessions", name), name)
	}
	for _, name := range []string{FolderName, ""} {
		assert.True(t, h.happened("/h", name), name)
	}
	for _, name := range []string{storeName, storeName + walSuffix, storeName + "-shm", manifestName("1"), "V.json", "cache", ".session_cleanup.lock"} {
		assert.False(t, h.happened("/h", name), name)
	}
	for _, name := range []string{storeName, storeName + walSuffix} {
		h.listens = true
		assert.True(t, h.happened("/h", name), name)
		assert.False(t, h.happened("/h", name), "one is enough until the next look")
	}
	h.listens = true
	assert.False(t, h.happened("/h", storeName+"-shm"))
	h.stuckIDs = nil
	assert.False(t, h.happened("/h/sessions", "V.json"))
	assert.Len(t, h.noticed, 1)
	h.end()
}

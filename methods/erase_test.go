package methods

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/rpc"
)

// answerTo is the result of one call over a channel, and the events of its stream frames.
func answerTo(t *testing.T, method, params string) (result map[string]any, events []string) {
	t.Helper()
	r, _ := introduced(t)
	frames, _ := converse(t, r, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	for _, frame := range frames {
		var f struct {
			ID     json.RawMessage
			Params struct{ Event string }
			Result map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(frame), &f))
		switch {
		case f.Params.Event != "":
			events = append(events, f.Params.Event)
		case f.ID != nil:
			require.NotNil(t, f.Result, frame)
			result = f.Result
		}
	}
	return result, events
}

// Only the literal true asks for a purge; where rows are gone, an answer always tells what was erased.
func TestPurgeIndexIsAskedForByTrueAlone(t *testing.T) {
	unasked := map[string]any{"pages": "this_delete", "indexes": "not_asked", "wal": "not_asked"}
	for _, value := range []string{"", "false", "null", "1", `"true"`, "[true]"} {
		more := ""
		if value != "" {
			more = `,"purge_index":` + value
		}
		result, events := answerTo(t, deleteMethod, paramsFor(filled(t), "x", more))
		assert.Equal(t, unasked, result["erase"], value)
		assert.Empty(t, events, value)
	}
	result, events := answerTo(t, deleteMethod, paramsFor(filled(t), "x", `,"purge_index":true`))
	assert.Equal(t, map[string]any{"pages": "this_delete", "indexes": "purged", "wal": "truncated"}, result["erase"])
	assert.Equal(t, []string{"purge", "purge"}, events)
}

// A preview takes the parameters of the delete and purges nothing; whatever is no delete takes no purge_index.
func TestWhatPurgesNothing(t *testing.T) {
	home := filled(t)
	plain, _ := answerTo(t, "state_db.preview_delete", paramsFor(home, "x", ""))
	preview, events := answerTo(t, "state_db.preview_delete", paramsFor(home, "x", `,"purge_index":true`))
	assert.Equal(t, plain, preview)
	assert.Empty(t, events)
	r, _ := introduced(t)
	for method, params := range map[string]string{
		"state_db.export_conversation": paramsFor(home, "x", `,"to":"/x","purge_index":true`),
		"state_db.sweep_sessions":      strings.Replace(paramsFor(home, "x", `,"purge_index":true`), `"session_id":"x"`, `"session_ids":["x"]`, 1),
	} {
		_, err := call(t, r, method, params)
		assert.Contains(t, requireCode(t, err, rpc.CodeInvalidParams).Message, "purge_index", method)
	}
}

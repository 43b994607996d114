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

// The conflict is there in every answer, null where there is none: the discovery document says so, and of nothing else there.
func TestOnlyTheConflictMayBeNull(t *testing.T) {
	r, _ := introduced(t)
	home := filled(t, `INSERT INTO state_meta VALUES ('gateway.retired_session.v1.gone', '{"own":true,"retired_at":5.5}')`)
	schema := r.methods["state_db.session_fence"].result()
	assert.Equal(t, []string{"null", "object"}, schema.Properties["conflict"].Types)
	assert.Equal(t, []string{"live", "retired", "expires", "conflict"}, schema.Required)
	assert.Equal(t, "number", schema.Properties["retired_at"].Type)
	checked, err := schema.Resolve(nil)
	require.NoError(t, err)
	for id, conflict := range map[string]any{
		"free": nil,
		"x":    map[string]any{"code": "session_exists", "message": "Session already exists"},
		"gone": map[string]any{"code": "session_deleted", "message": "Session was deleted; its id cannot be reused"},
	} {
		text, err := call(t, r, "state_db.session_fence", paramsFor(home, id, ""))
		require.NoError(t, err)
		var result map[string]any
		require.NoError(t, json.Unmarshal(text, &result))
		require.NoError(t, checked.Validate(result), id)
		assert.Contains(t, result, "conflict")
		assert.Equal(t, conflict, result["conflict"])
	}
	for name, nulls := range map[string]int{"state_db.session_fence": 1, deleteMethod: 0} {
		text, err := json.Marshal(r.methods[name].result())
		require.NoError(t, err)
		assert.Equal(t, nulls, strings.Count(string(text), `"null"`), "what is left out otherwise is never null: %s", name)
	}
}

// The three texts of a mutation receipt are counted in characters, whatever their bytes, and need be no ids.
func TestReceiptTexts(t *testing.T) {
	r, _ := introduced(t)
	home := filled(t)
	for text, fits := range map[string]bool{
		"": false, "x": true, " ": true, "../a": true, strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false,
		strings.Repeat("\U0001F600", 1024): true, strings.Repeat("\U0001F600", 1025): false, "\x00": true,
	} {
		for place := range 3 {
			three := []string{"a", "b", "c"}
			three[place] = text
			encoded := make([]any, 3)
			for i := range three {
				spelled, err := json.Marshal(three[i])
				require.NoError(t, err)
				encoded[i] = spelled
			}
			params := fmt.Sprintf(`{"profile_home":%q,"principal_id":%s,"session_id":%s,"request_id":%s}`, append([]any{home.Path}, encoded...)...)
			_, err := call(t, r, "state_db.has_mutation_receipt", params)
			if fits {
				require.NoError(t, err)
			} else {
				assert.Contains(t, requireCode(t, err, rpc.CodeInvalidParams).Message, "at most 1024 characters")
			}
		}
	}
}

// What the log tells of a fence is its home, its ids and its numbers.
func TestFencesInTheLog(t *testing.T) {
	r, log := introduced(t)
	home := filled(t, `INSERT INTO state_meta VALUES ('gateway.retired_session.v1.gone', '{"expires":true,"retired_at":5.5,"note":"private"}')`)
	_, err := call(t, r, "state_db.reclaim_fences", fmt.Sprintf(`{"profile_home":%q}`, home.Path))
	require.NoError(t, err)
	assert.Contains(t, log.String(), "reclaimed_count=1")
	assert.NotContains(t, log.String(), "private")
	log.Reset()
	_, err = call(t, r, "state_db.reclaim_fences", fmt.Sprintf(`{"profile_home":%q}`, home.Path))
	require.NoError(t, err)
	assert.Empty(t, log.String(), "nothing was done")
}

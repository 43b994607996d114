package methods

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readStreamFrame is what a host reads of a frame that may be a stream frame.
type readStreamFrame struct {
	Method string
	Params struct {
		ID    int
		Seq   int
		Event string
		Data  any
	}
}

// requireDescribedFrames checks the stream frames of one call against what the discovery document says of its method, down to their
// data, and gives their events.
func requireDescribedFrames(t *testing.T, m describedMethod, frames []string) (events []string) {
	t.Helper()
	for _, text := range frames {
		var frame readStreamFrame
		require.NoError(t, json.Unmarshal([]byte(text), &frame))
		if frame.Method != "stream" {
			continue
		}
		events = append(events, frame.Params.Event)
		require.Equal(t, len(events), frame.Params.Seq)
		i := slices.IndexFunc(m.Streams, func(s describedEvent) bool { return s.Name == frame.Params.Event })
		require.GreaterOrEqual(t, i, 0, "%s does not describe %s", m.Name, text)
		requireFits(t, m.Streams[i].Schema, frame.Params.Data, text)
	}
	return events
}

// requireDescribedResult checks the result of a call, if it has one, against what the discovery document says of its method.
func requireDescribedResult(t *testing.T, m describedMethod, frames []string) {
	t.Helper()
	for _, text := range frames {
		var frame struct{ ID, Result any }
		require.NoError(t, json.Unmarshal([]byte(text), &frame))
		if frame.ID != nil && frame.Result != nil {
			requireFits(t, m.Result.Schema, frame.Result, text)
		}
	}
}

// requireFits checks a value against a schema that lets nothing through which it does not name.
func requireFits(t *testing.T, schema *jsonschema.Schema, value any, text string) {
	t.Helper()
	checked, err := schema.Resolve(nil)
	require.NoError(t, err)
	require.NoError(t, checked.Validate(value), text)
}

// What is sent on the way of a call is what the discovery document describes: all of it, and nothing else.
func TestStreamFramesFitTheirDescription(t *testing.T) {
	ways := map[string]func(t *testing.T) (params string){
		deleteMethod: func(t *testing.T) string { return paramsFor(filled(t), "x", `,"purge_index":true`) },
		"state_db.delete_sessions": func(t *testing.T) string {
			return fmt.Sprintf(`{"profile_home":%q,"session_ids":["x","none"],"purge_index":true}`, filled(t).Path)
		},
		"state_db.compact": func(t *testing.T) string { return fmt.Sprintf(`{"profile_home":%q}`, filled(t).Path) },
	}
	for _, m := range discover(t).Methods {
		if len(m.Streams) == 0 {
			assert.NotContains(t, ways, m.Name)
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			require.Contains(t, ways, m.Name, "the test needs a call")
			r, _ := introduced(t)
			frames, _ := converse(t, r, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, m.Name, ways[m.Name](t)))
			events := requireDescribedFrames(t, m, frames)
			for _, s := range m.Streams {
				assert.Contains(t, events, s.Name)
				assert.NotEmpty(t, s.Description)
				assert.Equal(t, "object", s.Schema.Type)
				assert.NotEmpty(t, s.Schema.Properties)
				assert.ElementsMatch(t, s.Schema.Required, slices.Collect(maps.Keys(s.Schema.Properties)), "every field is always there")
				require.NotNil(t, s.Schema.AdditionalProperties, "nothing else may come")
				for name, field := range s.Schema.Properties {
					assert.NotEmpty(t, field.Description, name)
				}
			}
		})
	}
}

package methods

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"session-sidecar/rpc"
)

type probeParams struct {
	Home  ProfileHome `json:"profile_home"`
	ID    SessionID   `json:"session_id"`
	All   LiteralTrue `json:"all,omitempty"`
	Of    RequestID   `json:"of,omitempty"`
	Count *int        `json:"count,omitempty"`
}

// probe gives the parameters that a method would see.
func probe(t *testing.T, lenient bool, params string) (got probeParams, err error) {
	t.Helper()
	r := &Registry{methods: map[string]*method{}, gate: func(string) *rpc.Error { return nil }}
	register(r, spec[probeParams, okResult]{
		name: "test.probe", lenient: lenient,
		call: func(_ context.Context, p probeParams) (okResult, error) { got = p; return okResult{}, nil },
	})
	_, err = call(t, r, "test.probe", params)
	return got, err
}

func TestParams(t *testing.T) {
	got, err := probe(t, false, ` { "profile_home" : "/home/<&>" , "session_id":"a.b:c-d_1","all":true,"of":1e2,"count":3 } `)
	require.NoError(t, err)
	assert.Equal(t, probeParams{"/home/<&>", "a.b:c-d_1", true, RequestID("1e2"), new(3)}, got)

	got, err = probe(t, false, `{"profile_home":"h","session_id":"s"}`)
	require.NoError(t, err)
	assert.Equal(t, probeParams{Home: "h", ID: "s"}, got)
}

func TestParamsThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ params, names string }{
		"none at all":                {"", "profile_home"},
		"no fields":                  {`{}`, "profile_home"},
		"one missing":                {`{"profile_home":"h"}`, "session_id"},
		"an empty home":              {`{"profile_home":"","session_id":"s"}`, "profile_home"},
		"a home that is null":        {`{"profile_home":null,"session_id":"s"}`, "profile_home"},
		"a home that is a number":    {`{"profile_home":5,"session_id":"s"}`, "profile_home"},
		"a home that is a list":      {`{"profile_home":["h"],"session_id":"s"}`, "profile_home"},
		"an id that is null":         {`{"profile_home":"h","session_id":null}`, "session_id"},
		"an id that is a number":     {`{"profile_home":"h","session_id":5}`, "session_id"},
		"an optional that is null":   {`{"profile_home":"h","session_id":"s","count":null}`, "count"},
		"a fraction":                 {`{"profile_home":"h","session_id":"s","count":1.5}`, "count"},
		"a number as text":           {`{"profile_home":"h","session_id":"s","count":"1"}`, "count"},
		"a number beyond all":        {`{"profile_home":"h","session_id":"s","count":1e30}`, "count"},
		"an id of a call, null":      {`{"profile_home":"h","session_id":"s","of":null}`, "of"},
		"an id of a call, a list":    {`{"profile_home":"h","session_id":"s","of":[1]}`, "of"},
		"another case":               {`{"profile_home":"h","session_id":"s","ALL":true}`, `"ALL"`},
		"another case beside it":     {`{"profile_home":"h","session_id":"s","Session_ID":"t"}`, `"Session_ID"`},
		"another case alone":         {`{"Profile_Home":"h","session_id":"s"}`, `"Profile_Home"`},
		"in camel case":              {`{"profile_home":"h","session_id":"s","profileHome":"h"}`, `"profileHome"`},
		"in camel case, alone":       {`{"profileHome":"h","session_id":"s"}`, `the field "profile_home" is spelled "profileHome"`},
		"with a dash":                {`{"profile_home":"h","session-id":"s"}`, `the field "session_id" is spelled "session-id"`},
		"joints where none are":      {`{"profile_home":"h","session_id":"s","_Al-l_":true}`, `the field "all" is spelled "_Al-l_"`},
		"another letter, folded":     {`{"profile_home":"h","ſession_id":"s"}`, "session_id"},
		"a very long home of a kind": {`{"profile_home":[` + strings.Repeat(`"x",`, 5000) + `1],"session_id":"s"}`, "profile_home"},
		"a very long id":             {`{"profile_home":"h","session_id":"` + strings.Repeat("x", 5000) + `"}`, "session_id"},
		"several that are wrong":     {`{"session_id":5,"profile_home":5,"of":null,"count":"1"}`, `the field "count"`},
		"no object":                  {`["h","s"]`, "params"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, lenient := range []bool{false, true} {
				got, err := probe(t, lenient, test.params)
				failure := requireCode(t, err, rpc.CodeInvalidParams)
				assert.Contains(t, failure.Message, test.names)
				assert.Equal(t, probeParams{}, got, "the method did not run")
			}
		})
	}
}

// Older hosts may send more where a method is lenient, and nowhere else.
func TestUnknownFields(t *testing.T) {
	for _, field := range []string{`"other":1`, `"":1`, `"profile_home2":"x"`, `"nested":{"session_id":5}`, `"é":null`} {
		params := `{"profile_home":"h","session_id":"s",` + field + `}`
		_, err := probe(t, false, params)
		requireCode(t, err, rpc.CodeInvalidParams)
		got, err := probe(t, true, params)
		require.NoError(t, err, field)
		assert.Equal(t, probeParams{Home: "h", ID: "s"}, got)
	}
}

// A flag is true only where it is literally true. Anything else is false and no error.
func TestLiteralTrue(t *testing.T) {
	for value, want := range map[string]bool{
		`true`: true, ` true `: true, `false`: false, `"true"`: false, `1`: false, `null`: false, `"yes"`: false, `0`: false,
		`[true]`: false, `{"true":true}`: false, `"True"`: false, `1.0`: false,
	} {
		got, err := probe(t, false, `{"profile_home":"h","session_id":"s","all":`+value+`}`)
		require.NoError(t, err, value)
		assert.Equal(t, want, bool(got.All), value)
	}
}

// An id of a call keeps its bytes.
func TestRequestID(t *testing.T) {
	for _, id := range []string{`9007199254740993`, `0`, `"0"`, `1e2`, `-1.50`, `"<\u0041>"`, `"ä"`} {
		got, err := probe(t, false, `{"profile_home":"h","session_id":"s","of":`+id+`}`)
		require.NoError(t, err, id)
		assert.Equal(t, id, string(got.Of))
	}
}

func TestSessionIDs(t *testing.T) {
	accepts := func(id string) bool {
		encoded, err := json.Marshal(id)
		require.NoError(t, err)
		got, err := probe(t, false, fmt.Sprintf(`{"profile_home":"h","session_id":%s}`, encoded))
		if err == nil {
			assert.Equal(t, id, string(got.ID))
		} else {
			requireCode(t, err, rpc.CodeInvalidParams)
		}
		return err == nil
	}
	for _, id := range []string{"a", "Z9", "..", ".", "-", "_", ":", "a:b", strings.Repeat("x", 128), "null", "20260101_120000_ab12"} {
		assert.True(t, accepts(id), "%q", id)
	}
	for _, id := range []string{
		"", strings.Repeat("x", 129), "a b", " a", "a\n", "\na", "a/b", "../a", `a\b`, "a\x00", "ä", "a*", "a?", "$(x)", "a'", `a"`,
		"a\u200b", "ａ", "a,b", "a;b", "a|b", "a%b",
	} {
		assert.False(t, accepts(id), "%q", id)
	}
}

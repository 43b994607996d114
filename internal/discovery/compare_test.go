package discovery

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// someWire is a small wire with something of every kind.
const someWire = `{
	"rpc_version": 1, "error_codes": [-32602, -32000], "capabilities": ["watch"], "retryable": {"busy": true, "gone": false},
	"notifications": {"n.changed": {"home": "string always"}},
	"methods": {
		"m.lenient": {"params": {}, "ignores_unknown_params": true, "result": {}, "conditions": []},
		"m.do": {
			"params": {
				"id": "string always pattern=^[a-z]+$", "limit": "integer least=1 most=1000", "text": "string shortest=1 longest=10", "kind": "string words=a,b",
				"sort": "object", "sort.by": "string", "ids": "array", "ids[]": "string always"
			},
			"result": {
				"ok": "boolean always", "why": "string", "what": "null|object always", "what.id": "string always pattern=^[0-9]+$", "n": "integer always", "phase": "string words=a,b"
			},
			"conditions": ["busy"],
			"events": {"progress": {"done": "integer always"}}
		}
	}
}`

// wire gives it with one text in place of another.
func wire(t *testing.T, was, is string) Promise {
	t.Helper()
	require.Contains(t, someWire, was)
	var p Promise
	require.NoError(t, json.Unmarshal([]byte(replaceOnce(someWire, was, is)), &p))
	return p
}

func replaceOnce(text, was, is string) string {
	for i := range len(text) - len(was) + 1 {
		if text[i:i+len(was)] == was {
			return text[:i] + is + text[i+len(was):]
		}
	}
	return text
}

// A host that knows the baseline would fail over each of these.
func TestWhatMayNotChange(t *testing.T) {
	for name, c := range map[string]struct{ was, is, line string }{
		"another version":                    {`"rpc_version": 1`, `"rpc_version": 2`, "rpc_version was 1 and is 2"},
		"a method goes":                      {`"m.lenient"`, `"m.renamed"`, "the method m.lenient is gone"},
		"a parameter goes":                   {`"limit"`, `"most"`, "m.do: the parameter limit is gone"},
		"a parameter inside another goes":    {`"sort.by"`, `"sort.key"`, "m.do: the parameter sort.by is gone"},
		"a parameter becomes required":       {`"limit": "integer`, `"limit": "integer always`, "it is required"},
		"a parameter is of another type":     {`"limit": "integer`, `"limit": "string`, "a type is refused"},
		"elements are of another type":       {`"ids[]": "string`, `"ids[]": "integer`, "a type is refused"},
		"a parameter takes less":             {`most=1000`, `most=100`, "fewer values are taken: most"},
		"a parameter takes only more":        {`least=1`, `least=2`, "fewer values are taken: least"},
		"a parameter takes shorter texts":    {`longest=10`, `longest=9`, "fewer values are taken: longest"},
		"a parameter takes longer texts":     {`shortest=1`, `shortest=2`, "fewer values are taken: shortest"},
		"a parameter takes fewer words":      {`"kind": "string words=a,b"`, `"kind": "string words=a"`, "fewer values are taken: words"},
		"a parameter has another form":       {`^[a-z]+$`, `^[a-y]+$`, "fewer values are taken: pattern"},
		"a parameter gets a limit":           {`"sort.by": "string"`, `"sort.by": "string longest=5"`, "fewer values are taken: longest"},
		"a new parameter is required":        {`"limit"`, `"more": "string always", "limit"`, "the new parameter more is required"},
		"one inside another is required":     {`"sort.by"`, `"sort.up": "boolean always", "sort.by"`, "the new parameter sort.up is required"},
		"unknown parameters are refused":     {`"ignores_unknown_params": true`, `"ignores_unknown_params": false`, "m.lenient refuses unknown parameters"},
		"a field goes":                       {`"why"`, `"reason"`, "m.do: the field why is gone"},
		"a field may be absent":              {`"ok": "boolean always"`, `"ok": "boolean"`, "it may be absent"},
		"a field is of another type":         {`"why": "string"`, `"why": "object"`, "it may be of another type"},
		"a field may be null":                {`"ok": "boolean always"`, `"ok": "boolean|null always"`, "it may be of another type"},
		"a field may be no whole number":     {`"n": "integer`, `"n": "number`, "it may be of another type"},
		"a field may be anything":            {`"why": "string"`, `"why": "any"`, "it may be of another type"},
		"a field has another form":           {`^[0-9]+$`, `^[0-9a-f]+$`, "what it kept to is another: pattern"},
		"a word of a field goes":             {`"phase": "string words=a,b"`, `"phase": "string words=a,c"`, "what it kept to is another: words"},
		"a condition goes":                   {`["busy"]`, `[]`, "m.do: the condition busy is gone"},
		"an event goes":                      {`"progress"`, `"step"`, "m.do: the event progress is gone"},
		"a field of an event goes":           {`"done"`, `"step"`, "m.do: the event progress: the field done is gone"},
		"a notification goes":                {`"n.changed"`, `"n.other"`, "the notification n.changed is gone"},
		"a field of a notification goes":     {`"home"`, `"profile_home"`, "the notification n.changed: the field home is gone"},
		"a reason goes":                      {`"gone": false`, `"missing": false`, "the reason gone is gone"},
		"a reason is not retryable any more": {`"busy": true`, `"busy": false`, "the reason busy was retryable: true"},
		"a capability goes":                  {`["watch"]`, `[]`, "the capability watch is gone"},
		"an error code goes":                 {`-32000]`, `-32001]`, "the error code -32000 is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := wire(t, "", ""), wire(t, c.was, c.is)
			broken, _ := Compare(before, now)
			require.Len(t, broken, 1)
			assert.Contains(t, broken[0], c.line)
			grown, err := Grown(before, now)
			require.ErrorIs(t, err, ErrBroken, "the baseline drops nothing")
			assert.Equal(t, before, grown)
		})
	}
}

// A host that knows the baseline goes on as before over each of these.
func TestWhatMayBeAdded(t *testing.T) {
	for name, c := range map[string]struct{ was, is, line string }{
		"a method":                         {`"methods": {`, `"methods": {"m.new": {"params": {"id": "string always"}, "result": {}, "conditions": []},`, "the method m.new"},
		"an optional parameter":            {`"limit"`, `"more": "string", "limit"`, "m.do: the parameter more"},
		"an optional object of parameters": {`"limit"`, `"more": "object", "more.id": "string always", "limit"`, "m.do: the parameter more.id"},
		"a parameter takes more":           {`most=1000`, `most=2000`, "m.do: the parameter limit"},
		"a parameter has no limit":         {` shortest=1 longest=10`, ``, "m.do: the parameter text"},
		"a parameter takes another type":   {`"limit": "integer`, `"limit": "integer|string`, "m.do: the parameter limit"},
		"a parameter takes anything":       {`"sort.by": "string"`, `"sort.by": "any"`, "m.do: the parameter sort.by"},
		"a parameter may be left out":      {`"id": "string always`, `"id": "string`, "m.do: the parameter id"},
		"unknown parameters are ignored":   {`"conditions": ["busy"]`, `"conditions": ["busy"], "ignores_unknown_params": true`, ""},
		"a field":                          {`"why"`, `"more": "string", "why"`, "m.do: the field more"},
		"a field is always there":          {`"why": "string"`, `"why": "string always"`, "m.do: the field why"},
		"a field is never null":            {`"null|object always"`, `"object always"`, "m.do: the field what"},
		"a word of a field":                {`"phase": "string words=a,b"`, `"phase": "string words=a,b,c"`, "m.do: the field phase"},
		"an event":                         {`"progress"`, `"step": {}, "progress"`, "m.do: the event step"},
		"a notification":                   {`"n.changed"`, `"n.new": {}, "n.changed"`, "the notification n.new"},
		"a reason":                         {`"gone": false`, `"gone": false, "new": true`, "the reason new"},
		"a condition":                      {`["busy"]`, `["busy", "gone"]`, "m.do: the condition gone"},
		"a capability":                     {`["watch"]`, `["watch", "new"]`, "the capability new"},
		"an error code":                    {`-32000]`, `-32000, -32001]`, "the error code -32001"},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := wire(t, "", ""), wire(t, c.was, c.is)
			broken, added := Compare(before, now)
			assert.Empty(t, broken)
			if c.line != "" {
				require.NotEmpty(t, added)
				assert.Contains(t, added[len(added)-1], c.line)
			}
			grown, err := Grown(before, now)
			require.NoError(t, err)
			assert.Equal(t, now, grown)
		})
	}
}

// What is read back is what was written, or a baseline would lose what it promises.
func TestValuesAreReadAsTheyAreSpelled(t *testing.T) {
	for _, spelled := range []string{"any", "any always", "null|object always", "integer least=0 most=9", "string always pattern=^[^:]{1,128}$"} {
		assert.Equal(t, spelled, readValue(spelled).String())
	}
}

package discovery

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aDocument has a method of the fewest words, with an object inside its answer.
const aDocument = `{
	"methods": [{
		"name": "m.do", "summary": "Does it.",
		"x-params-schema": {"properties": {"id": {"type": "string", "description": "which"}, "n": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["id"]},
		"result": {"schema": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}}}}},
		"errors": [{"code": -32000, "data": {"condition": "taken"}}], "x-reasons": ["taken"], "x-streams": []
	}, {"name": "m.none", "summary": "", "x-params-schema": {}, "result": {"schema": {}}, "x-reasons": []}],
	"x-reasons": {"taken": {"retryable": true, "sentence": "It is taken.", "description": "another has it"}}, "x-notifications": []
}`

const (
	begin = "<!-- made from rpc.discover: begin "
	end   = " -->\nold\n<!-- made from rpc.discover: end -->\n"
)

func TestAPageIsFilled(t *testing.T) {
	document, err := Read([]byte(aDocument))
	require.NoError(t, err)
	page, err := document.Fill("before\n" + begin + "methods m.do m.none" + end + "after\n" + begin + "reasons" + end)
	require.NoError(t, err)
	assert.Equal(t, `before
`+begin+`methods m.do m.none -->

#### m.do

Does it.

| takes | type | |
|---|---|---|
| `+"`id`"+` | string | which |
| `+"`n`"+`? | integer, 1 to 9 |  |
| **gives** | | |
| `+"`list`"+`? | list of objects |  |
| `+"`list[].b`"+`? | string |  |
| `+"`list[].a`"+`? | string |  |
| **conditions** | | `+"`taken`"+` |

#### m.none



<!-- made from rpc.discover: end -->
after
`+begin+`reasons -->

| word | again? | what it means | for the user |
|---|---|---|---|
| `+"`taken`"+` | yes | another has it | It is taken. |

<!-- made from rpc.discover: end -->
`, page)
	again, err := document.Fill(page)
	require.NoError(t, err)
	assert.Equal(t, page, again)
	assert.Equal(t, []string{"m.do takes n", "m.do gives list", "m.do gives list[].b", "m.do gives list[].a"}, document.Undescribed())
}

// A method that no page tells of would be found by nobody.
func TestAPageHasEveryMethodOnce(t *testing.T) {
	document, err := Read([]byte(aDocument))
	require.NoError(t, err)
	for page, line := range map[string]string{
		begin + "methods m.do" + end:             "m.none stands in 0 parts",
		begin + "methods m.do m.do m.none" + end: "m.do stands in 2 parts",
		begin + "methods m.do m.other" + end:     "there is no method m.other",
		begin + "something" + end:                `no part of a page is called "something"`,
	} {
		_, err := document.Fill(page)
		assert.ErrorContains(t, err, line)
	}
}

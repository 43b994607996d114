package statedb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	hashA = strings.Repeat("a", 64)
	hashB = strings.Repeat("b", 64)
)

func TestMediaOfAPayload(t *testing.T) {
	object := func(path, hash string) string { return fmt.Sprintf(`{"path":%q,"sha256":%q}`, path, hash) }
	document := "/h/native-inputs/" + hashA + "/a b.pdf"
	for name, c := range map[string]struct {
		payload, request string
		want             []mediaReference
	}{
		"none":   {payload: `{}`},
		"spaces": {payload: " {} "},
		"all three lists": {
			payload: `{"api_turn_v1":{"media":[` + object("/3", "h3") + `]},"attachments_v1":{"media":[` + object("/1", "h1") +
				`]},"native_text_v1":{"media":[` + object("/2", "h2") + `]}}`,
			want: []mediaReference{{"/1", "h1", object("/1", "h1")}, {"/2", "h2", object("/2", "h2")}, {"/3", "h3", object("/3", "h3")}},
		},
		"as it stands, without spaces": {
			payload: `{"attachments_v1": {"media": [{"size": 9007199254740993, "sha256": "h", "path": "/<\u00e9>", "x": {"path": 1}}]}}`,
			want:    []mediaReference{{"/<é>", "h", `{"size":9007199254740993,"sha256":"h","path":"/<\u00e9>","x":{"path":1}}`}},
		},
		"each path once, the first": {
			payload: `{"attachments_v1":{"media":[` + object("/1", "h1") + `,` + object("/1", "h2") + `]},"api_turn_v1":{"media":[` + object("/1", "h3") + `]}}`,
			want:    []mediaReference{{"/1", "h1", object("/1", "h1")}},
		},
		"keys letter by letter": {
			payload: `{"Attachments_v1":{"media":[` + object("/1", "h") + `]},"attachments_v1":{"Media":[` + object("/2", "h") +
				`]},"native_text_v1":{"media":[{"Path":"/3","sha256":"h"},{"path":"/4","SHA256":"h"}]}}`,
		},
		"malformed ones between good ones": {
			payload: `{"attachments_v1":{"media":[null,1,"/x",[],{},{"path":"/1"},{"sha256":"h"},{"path":1,"sha256":"h"},{"path":"/1","sha256":null},` +
				`{"path":"","sha256":"h"},{"path":"/\u0000","sha256":"h"},{"path":"/\ud800","sha256":"h"},` + object("/1", "h") + `]}}`,
			want: []mediaReference{{"/1", "h", object("/1", "h")}},
		},
		"malformed lists": {payload: `{"attachments_v1":[` + object("/1", "h") + `],"native_text_v1":{"media":` + object("/1", "h") + `},"api_turn_v1":null}`},
		"the last of two equal keys": {
			payload: `{"attachments_v1":{"media":[` + object("/1", "h") + `]},"attachments_v1":{"media":[{"path":"/2","path":"/3","sha256":"h"}]}}`,
			want:    []mediaReference{{"/3", "h", `{"path":"/2","path":"/3","sha256":"h"}`}},
		},
		"a document of a hosted request": {
			payload: `{"text":"read\n[Shared attachment] file: ` + document + `\n"}`, request: "hosted:1",
			want: []mediaReference{{document, hashA, object(document, hashA)}},
		},
		"documents on lines that follow each other": {
			payload: `{"text":"\n[Shared attachment] file: /native-inputs/` + hashA + `/1\n[Shared attachment] file: /h/native-inputs/` + hashB + `/2\n"}`,
			request: "hosted:",
			want: []mediaReference{
				{"/native-inputs/" + hashA + "/1", hashA, object("/native-inputs/"+hashA+"/1", hashA)},
				{"/h/native-inputs/" + hashB + "/2", hashB, object("/h/native-inputs/"+hashB+"/2", hashB)},
			},
		},
		"an object comes before a document": {
			payload: `{"text":"\n[Shared attachment] file: ` + document + `\n","attachments_v1":{"media":[` + object(document, "h") + `]}}`,
			request: "hosted:1",
			want:    []mediaReference{{document, "h", object(document, "h")}},
		},
		"another request": {payload: `{"text":"read\n[Shared attachment] file: ` + document + `\n"}`, request: "Hosted:1"},
		"no text":         {payload: `{"text":["\n[Shared attachment] file: ` + document + `\n"]}`, request: "hosted:1"},
		"other lines": {
			payload: `{"text":"[Shared attachment] file: ` + document + `\n [Shared attachment] file: ` + document +
				`\n[shared attachment] file: ` + document + `\n[Shared attachment] file:  ` + document +
				`\n[Shared attachment] file: ` + document + `/x` +
				`\n[Shared attachment] file: h/native-inputs/` + hashA + `/x` +
				`\n[Shared attachment] file: /h/inputs/` + hashA + `/x` +
				`\n[Shared attachment] file: /h/native-inputs/` + strings.ToUpper(hashA) + `/x` +
				`\n[Shared attachment] file: /h/native-inputs/` + hashA + `/` +
				`\n[Shared attachment] file: /h/native-inputs/` + hashA + `a/x` +
				`\n[Shared attachment] file: ` + document + `"}`,
			request: "hosted:1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mediaOf(c.payload, c.request)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestPayloadThatIsNoObject(t *testing.T) {
	for _, payload := range []string{
		"", " ", "null", "[]", `"x"`, "1", "{", `{"a":1} x`, `NaN`, "{\"a\":\"\xff\"}", "{\"a\":\"\n\"}",
	} {
		_, err := mediaOf(payload, "r")
		requireDetail(t, err, ErrUnsupported, "payload")
	}
}

// The key that the contract gives: the hash of the path's bytes.
func TestMediaKey(t *testing.T) {
	assert.Equal(t, "gateway.media.retired.v1.3ada2c6e000ddb5bbed46c3044c81ee629bc204e51e6b3fb6df6aa23b1c42009", mediaKey("/x/837/b.png"))
	assert.Equal(t, "gateway.media.retired.v1.a078f1684cfb261826e7e248b6355d463f1c066e209c47276d4453ed63360331", mediaKey("/é😀"))
}

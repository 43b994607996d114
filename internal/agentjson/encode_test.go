package agentjson

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is expected was written by Python: json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False).
func TestEncode(t *testing.T) {
	for name, test := range map[string]struct {
		value any
		want  string
	}{
		"null":              {nil, `null`},
		"true":              {true, `true`},
		"false":             {false, `false`},
		"an int":            {5, `5`},
		"zero":              {int64(0), `0`},
		"the least integer": {int64(math.MinInt64), `-9223372036854775808`},
		"the greatest":      {int64(math.MaxInt64), `9223372036854775807`},

		"a time":                   {1790000000.0, `1790000000.0`},
		"a time with a part":       {1790000000.123456, `1790000000.123456`},
		"a tenth":                  {0.1, `0.1`},
		"a third":                  {1.0 / 3, `0.3333333333333333`},
		"a hundred":                {100.0, `100.0`},
		"below zero":               {-1.5, `-1.5`},
		"0.0":                      {0.0, `0.0`},
		"-0.0":                     {math.Copysign(0, -1), `-0.0`},
		"the last without an e":    {9999999999999998.0, `9999999999999998.0`},
		"a quadrillion":            {1e15, `1000000000000000.0`},
		"the first with an e":      {1e16, `1e+16`},
		"many digits and an e":     {123456789012345680.0, `1.2345678901234568e+17`},
		"1e22":                     {1e22, `1e+22`},
		"the least without an e":   {0.0001, `0.0001`},
		"the greatest with a -e":   {0.00001, `1e-05`},
		"digits and a -e":          {1.234e-05, `1.234e-05`},
		"an exponent of three":     {1.5e300, `1.5e+300`},
		"the greatest float":       {math.MaxFloat64, `1.7976931348623157e+308`},
		"the least above zero":     {math.SmallestNonzeroFloat64, `5e-324`},
		"the greatest without a -": {-1e16, `-1e+16`},

		"no text":            {"", `""`},
		"control characters": {"\x00\x01\b\t\n\x0b\f\r\x0e\x1f ", `"\u0000\u0001\b\t\n\u000b\f\r\u000e\u001f "`},
		"what HTML escapes":  {"<>&'", `"<>&'"`},
		"line separators":    {"\u2028\u2029", "\"\u2028\u2029\""},
		"U+007F and U+0080":  {"\x7f\u0080", "\"\x7f\u0080\""},
		"quotes and slashes": {`"\/`, `"\"\\/"`},
		"beyond ASCII":       {"\U0001f600é漢", "\"\U0001f600é漢\""},
		"the last ones":      {"\ufffd\uffff\U0010ffff", "\"\ufffd\uffff\U0010ffff\""},

		"an empty list":   {[]any{}, `[]`},
		"an empty object": {Object{}, `{}`},
		"lists in lists":  {[]any{[]any{}, []any{nil, 1, 1.0}, Object{}}, `[[],[null,1,1.0],{}]`},
		"raw":             {[]any{Raw(`{"b": 1,  "a":1.50}`), "x"}, `[{"b": 1,  "a":1.50},"x"]`},
		"sorted keys": {
			Object{
				"b": 1, "a": []any{nil, true, false, Object{}}, "B": "x", "é": 2, "\U0001f600": 3, "\uffff": 4, "": 5, "a\x00": 6, "aa": 7, `a"`: 8,
			},
			`{"":5,"B":"x","a":[null,true,false,{}],"a\u0000":6,"a\"":8,"aa":7,"b":1,"é":2,"` + "\uffff" + `":4,"` + "\U0001f600" + `":3}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(test.value)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// What JSON cannot spell, and what no store gives, is an error wherever it stands.
func TestEncodeRefuses(t *testing.T) {
	for name, value := range map[string]any{
		"no UTF-8":          "a\xff",
		"half a character":  "\xed\xa0\x80",
		"a blob":            []byte("text"),
		"NaN":               math.NaN(),
		"Inf":               math.Inf(1),
		"-Inf":              math.Inf(-1),
		"a time":            time.Time{},
		"a list of strings": []string{"a"},
		"a smaller float":   float32(1),
		"a pointer":         new(string),
	} {
		t.Run(name, func(t *testing.T) {
			for _, whole := range []any{value, []any{1, value}, Object{"a": 1, "b": Object{"c": value}}} {
				text, err := Encode(whole)
				require.ErrorIs(t, err, ErrNotText)
				assert.Empty(t, text)
			}
			_, err := Fingerprint("s", Object{"x": value})
			assert.ErrorIs(t, err, ErrNotText)
		})
	}
	_, err := Encode(Object{"\xff": 1})
	require.ErrorIs(t, err, ErrNotText)
	_, err = Fingerprint("\xff", nil)
	require.ErrorIs(t, err, ErrNotText)
	_, err = ASCIIFingerprints("fine", "\xff")
	require.ErrorIs(t, err, ErrNotText)
}

// The hashes were made with Python: hashlib.sha256 over that JSON of {"payload": …, "target": …}.
func TestFingerprint(t *testing.T) {
	for _, test := range []struct {
		target  string
		payload any
		want    string
	}{
		{
			"s-1",
			Object{"principal": "human", "request": "req-1"},
			"01772ffca7838c1471f80e5ddf8c9264b6d10e8162fe42f94013837747a3612c",
		},
		{
			"s-1",
			Object{"operation": "execution.finish", "payload": Object{}},
			"3484efbc9e3440748e9e460dcb198be8e25a9f15f525f84530cce8c0afabb9a5",
		},
		{
			"s<>&\u2028é\U0001f600\x00\x7f",
			Object{"principal": "<p>&", "request": "r\u2029\"\\\n"},
			"7e8cbdc110e24e7ba43d0dd6136d6d0f88c753b4effe7e3a2eff7d13432635a6",
		},
		{"", nil, "c45347b1f2d0b3893d43b450c3d1d27a8466c11286c08c4d6620a7663607cb8b"},
		{"t", []any{1, 1.0, "x"}, "5c00805118da60900457549a8a2e2a90f08b0c11018319a44e47a36992c2adef"},
		{"t", Raw(`[1,1.0,"x"]`), "5c00805118da60900457549a8a2e2a90f08b0c11018319a44e47a36992c2adef"},
	} {
		got, err := Fingerprint(test.target, test.payload)
		require.NoError(t, err)
		assert.Equal(t, test.want, got, "%q", test.target)
	}
}

// These were made with Python: hashlib.sha256 over json.dumps(texts, separators=(',', ':')).
func TestASCIIFingerprints(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  []string
	}{
		{nil, []string{"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"}},
		{[]string{"p", "human", "req-1"}, []string{"e10b395667956e750e034f2710ab49ae0a5f2bdd22d1a348eca2b95a7db25237"}},
		{[]string{"<>&\"\\/\b\f\n\r\t\x00\x1f"}, []string{"9a5fe399f9bd548b852e0d78e2b07cd3328ea7d31e0196d3722c6a57fd19678f"}},
		{[]string{"é\u2028\uffff\ufffd", "\U00010000\U0010ffff\U0001f600"}, []string{"6acac11cbac5e7a7e73de764c2a2f923e59fd65e550d816cff65e122f121c05e"}},
		// Contract 5b.1 keeps U+007F as it is, Python writes \u007f.
		{[]string{"a\x7fb"}, []string{"af00ee2d129c53d1f224f59ea75455ca4fe9a54623155aa5d10b7e87729f5c21", "46ee1d076dab1150cb4fb3309947e22ceb07a3ff641d0b4b21eb9e8c8896d7c7"}},
	} {
		got, err := ASCIIFingerprints(test.texts...)
		require.NoError(t, err)
		assert.Equal(t, test.want, got, "%q", test.texts)
	}
}

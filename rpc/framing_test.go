package rpc

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsNotOneJSONDocument(t *testing.T) {
	h := start(t, routes{}, 0)
	for name, line := range map[string]string{
		"no JSON":                     `hello`,
		"cut off":                     `{"jsonrpc":"2.0","id":1,"method":"echo"`,
		"a single quote":              `{'jsonrpc':'2.0'}`,
		"two documents":               ask(`1`, "echo", `{}`) + ask(`2`, "echo", `{}`),
		"two documents and a space":   ask(`1`, "echo", `{}`) + " " + ask(`2`, "echo", `{}`),
		"a byte order mark":           "\ufeff" + ask(`1`, "echo", `{}`),
		"a byte that is no UTF-8":     ask("\"\xff\"", "echo", `{}`),
		"half a character":            ask("\"\xc3\"", "echo", `{}`),
		"a surrogate as UTF-8":        ask("\"\xed\xa0\x80\"", "echo", `{}`),
		"a raw control character":     "{\"jsonrpc\":\"2.0\",\"id\":\"\x00\",\"method\":\"echo\"}",
		"a carriage return in a line": "{\"jsonrpc\":\"2.0\",\"id\":\"\r\",\"method\":\"echo\"}",
		"a lone high surrogate":       ask(`"\ud800"`, "echo", `{}`),
		"a lone high one in a text":   ask(`1`, "echo", `{"a":"x\uDBFFy"}`),
		"a lone low surrogate":        ask(`1`, "echo", `{"a":"\udc00"}`),
		"the halves the wrong way":    ask(`1`, "echo", `{"a":"\ude42\ud83d"}`),
		"two high ones":               ask(`1`, "echo", `{"a":"\ud83d\ud83d"}`),
		"two high ones and a low one": ask(`1`, "echo", `{"a":"\ud83d\ud83d\ude42"}`),
		"a high one and another":      ask(`1`, "echo", `{"a":"\ud83d\u0041"}`),
		"a high one and a newline":    ask(`1`, "echo", `{"a":"\ud83d\nde42"}`),
		"a high one and a backslash":  ask(`1`, "echo", `{"a":"\ud83d\\ude42"}`),
		"after an escaped backslash":  ask(`1`, "echo", `{"a":"\\\ud800"}`),
		"a lone one in a key":         ask(`1`, "echo", `{"\ud800":1}`),
		"a lone one in the method":    `{"jsonrpc":"2.0","id":1,"method":"\udfff"}`,
		"a lone one in a field":       `{"jsonrpc":"2.0","id":1,"method":"echo","\uD800":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			h.send(line)
			h.requireError("null", CodeParse, "")
			h.requireNothingElse()
		})
	}
}

func TestTextThatOnlyLooksLikeALoneSurrogate(t *testing.T) {
	h := start(t, routes{}, 0)
	for _, params := range []string{
		`{"a":"\ud83d\ude42"}`, `{"a":"\uD83D\uDE42\ud83d\ude42"}`, `{"\ud83d\ude42":1}`, `{"a":"\\ud800"}`, `{"a":"\\\\udc00"}`,
		`{"\\ud800":1}`, `{"a":"ud800"}`, `{"a":"\ud7ff\ue000\uffff\u0000"}`, `{"a":"🙂"}`,
	} {
		h.send(ask(`1`, "echo", params))
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":`+params+`}`, h.line())
	}
}

// lineOf makes a good request of exactly so many bytes.
func lineOf(size int) string {
	line := `{"jsonrpc":"2.0","id":1,"method":"echo","params":{},"pad":"` + `"}`
	return line[:len(line)-2] + strings.Repeat("x", size-len(line)) + `"}`
}

func TestALineOfTheGreatestLengthIsRead(t *testing.T) {
	h := start(t, routes{}, 0)
	for _, end := range []string{"", "\r"} {
		h.send(lineOf(MaxLine) + end)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, h.line())
	}
}

func TestALineThatIsTooLongIsDropped(t *testing.T) {
	h := start(t, routes{}, 0)
	for _, line := range []string{
		lineOf(MaxLine + 1), lineOf(MaxLine+1) + "\r", lineOf(MaxLine) + "\r\r", lineOf(MaxLine + 2),
		lineOf(3*MaxLine + 5), strings.Repeat(" ", MaxLine+1),
	} {
		h.send(line)
		h.requireError("null", CodeParse, "")
		h.requireNothingElse()
	}
}

func TestALastLineThatIsTooLongIsAnswered(t *testing.T) {
	h := start(t, routes{}, 0)
	_, err := io.WriteString(h.in, lineOf(MaxLine+1))
	require.NoError(t, err)
	require.NoError(t, h.in.Close())
	h.requireError("null", CodeParse, "")
	require.Equal(t, 0, h.exit())
}

func TestHowLinesEnd(t *testing.T) {
	h := start(t, routes{}, 0)
	h.send("", "   ", "\r", " \t\r", ask(`1`, "inline echo", `{}`)+"\r", "", ask(`2`, "inline echo", `{}`), "")
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, h.line())
	require.Equal(t, `{"jsonrpc":"2.0","id":2,"result":{}}`, h.line())
	h.requireNothingElse()
}

func TestALastLineWithoutAnEndIsServed(t *testing.T) {
	for _, end := range []string{"", "\r"} {
		h := start(t, routes{}, 0)
		_, err := io.WriteString(h.in, ask(`1`, "echo", `{}`)+end)
		require.NoError(t, err)
		require.NoError(t, h.in.Close())
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, h.line())
		require.Equal(t, 0, h.exit())
	}
}

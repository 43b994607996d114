// Package rpc speaks newline-delimited JSON-RPC 2.0 over a pair of streams (contract 1): framing, dispatch, calls in
// flight, cancel, the limit on calls, and an orderly end. It knows no method but rpc.cancel's effect; whoever wires it
// brings the methods.
package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
)

// The codes of contract 1.6.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeApplication    = -32000
	CodeCancelled      = -32001
)

// Error is an error answer. Data is encoded as it is.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Condition is the data of an application error: a stable word for programs, and a line for humans where there is more
// to say.
type Condition struct {
	Condition string `json:"condition"`
	Detail    string `json:"detail,omitempty"`
}

// Conditions of the transport itself.
const (
	ConditionBusy         = "sidecar_busy"
	ConditionCancelled    = "cancelled"
	ConditionShuttingDown = "shutting_down"
)

// id is a request's id as it was spelled: contract 1.2 wants its exact bytes back, and ids are compared by them.
type id = json.RawMessage

var nullID = id("null")

// request is one line that asks for something. A notification has no id.
type request struct {
	id     id
	method string
	params json.RawMessage // nil or an object
}

// decodeRequest reads one line strictly. Where it fails it gives the error answer and the id to put in it, null where no
// id can be read.
func decodeRequest(line []byte) (*request, id, *Error) {
	if !utf8.Valid(line) || !json.Valid(line) || hasLoneSurrogate(line) {
		return nil, nullID, &Error{Code: CodeParse, Message: "the line is not one JSON document in UTF-8"}
	}
	invalid := func(at id, format string, args ...any) (*request, id, *Error) {
		return nil, at, &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
	}
	switch bytes.TrimLeft(line, " \t\r\n")[0] {
	case '{':
	case '[':
		return invalid(nullID, "batches are not supported")
	default:
		return invalid(nullID, "a request is an object")
	}
	var envelope map[string]json.RawMessage
	repeated := repeatedKeys(line)
	if err := json.Unmarshal(line, &envelope); err != nil {
		return nil, nullID, &Error{Code: CodeParse, Message: "the line is not one JSON document"}
	}
	answerTo := nullID
	raw, hasID := envelope["id"]
	if hasID && !repeated.atTop["id"] && isID(raw) {
		answerTo = id(raw)
	}
	if repeated.first != nil {
		return invalid(answerTo, "the key %s is there twice", Quote(*repeated.first))
	}
	for key := range envelope {
		for _, known := range []string{"jsonrpc", "id", "method", "params"} {
			if key != known && strings.EqualFold(key, known) {
				return invalid(answerTo, "the field %q is spelled %q", known, key)
			}
		}
	}
	r := &request{}
	var version string
	switch {
	case hasID && !isID(raw):
		return invalid(nullID, "an id is a number or a string")
	case json.Unmarshal(envelope["jsonrpc"], &version) != nil || version != "2.0":
		return invalid(answerTo, `jsonrpc must be "2.0"`)
	case !isString(envelope["method"]) || json.Unmarshal(envelope["method"], &r.method) != nil || r.method == "":
		return invalid(answerTo, "method must be a string")
	}
	if params, ok := envelope["params"]; ok {
		if params[0] != '{' {
			return invalid(answerTo, "params must be an object")
		}
		r.params = params
	}
	if hasID {
		r.id = answerTo
	}
	return r, answerTo, nil
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func isID(raw json.RawMessage) bool {
	return isString(raw) || (len(raw) > 0 && (raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9')))
}

// repeats are the keys that stand twice in one object of a document. The decoder of encoding/json would take the last of
// two without a word.
type repeats struct {
	first *string
	atTop map[string]bool // those of the outermost object
}

// repeatedKeys walks a valid document whose outermost value is an object. It goes over the bytes itself: a decoder's tokens
// would take seconds for a line of many short keys, and nothing else is read meanwhile.
func repeatedKeys(text []byte) repeats {
	found := repeats{atTop: map[string]bool{}}
	var open []map[string]bool // the keys of each object around; nil for an array
	wantKey := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			open = append(open, map[string]bool{})
			wantKey = true
		case '[':
			open = append(open, nil)
			wantKey = false
		case '}', ']':
			open = open[:len(open)-1]
			wantKey = false
		case ',':
			wantKey = open[len(open)-1] != nil
		case '"':
			end := i + jsontext.StringLength(text[i:])
			if wantKey {
				found.note(open, text[i:end])
				wantKey = false
			}
			i = end - 1
		}
	}
	return found
}

// note enters a key, as it is spelled, into the innermost object.
func (r *repeats) note(open []map[string]bool, spelled []byte) {
	key := string(spelled[1 : len(spelled)-1])
	if strings.Contains(key, `\`) {
		_ = json.Unmarshal(spelled, &key) // it is valid
	}
	keys := open[len(open)-1]
	if keys[key] {
		if r.first == nil {
			r.first = &key
		}
		r.atTop[key] = r.atTop[key] || len(open) == 1
	}
	keys[key] = true
}

// Quote is a name from a request for a message, however long it is.
func Quote(name string) string {
	const atMost = 64
	if len(name) > atMost {
		name = strings.ToValidUTF8(name[:atMost], "") + "…"
	}
	return strconv.Quote(name)
}

// hasLoneSurrogate looks for an escape \uD800 to \uDFFF without its other half: it names no character, and decoders
// replace it without a word.
func hasLoneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok:
			i++ // a short escape; the next character is its letter
		case unit >= 0xdc00 && unit <= 0xdfff:
			return true
		case unit >= 0xd800 && unit <= 0xdbff:
			low, ok := escapedUnit(text[i+6:])
			if !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		default:
			i += 5
		}
	}
	return false
}

// escapedUnit reads \uXXXX at the start of text.
func escapedUnit(text []byte) (unit int, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 {
			return 0, false
		}
		unit = unit<<4 | digit
	}
	return unit, true
}

// Encode writes a value as the channel does: one line's worth of JSON, with <, > and & as they are.
func Encode(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// The frames that we send. They are put together by hand because encoding/json would respell an id.

func resultFrame(to id, result json.RawMessage) []byte {
	return joinFrame(`{"jsonrpc":"2.0","id":`, to, `,"result":`, result, `}`)
}

func errorFrame(to id, failure json.RawMessage) []byte {
	return joinFrame(`{"jsonrpc":"2.0","id":`, to, `,"error":`, failure, `}`)
}

func notificationFrame(method, params json.RawMessage) []byte {
	return joinFrame(`{"jsonrpc":"2.0","method":`, method, `,"params":`, params, `}`)
}

func streamFrame(of id, seq int, event, data json.RawMessage) []byte {
	head := fmt.Sprintf(`,"seq":%d,"event":`, seq)
	params := joinFrame(`{"id":`, of, head, event, `,"data":`, data, `}`)
	return notificationFrame(json.RawMessage(`"stream"`), params)
}

func joinFrame(parts ...any) []byte {
	var frame []byte
	for _, part := range parts {
		switch p := part.(type) {
		case string:
			frame = append(frame, p...)
		case []byte:
			frame = append(frame, p...)
		case json.RawMessage:
			frame = append(frame, p...)
		}
	}
	return frame
}

// errLineTooLong says that a line was longer than MaxLine and was dropped up to its end.
var errLineTooLong = errors.New("the line is too long")

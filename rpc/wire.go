// Package rpc speaks newline-delimited JSON-RPC 2.0 over a pair of streams (contract 1): framing, dispatch, calls in
// flight, cancel, the limit on calls, and an orderly end. It knows no method but rpc.cancel's effect; whoever wires it
// brings the methods.
package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	members, _ := jsontext.Members(line) // it is an object
	repeated := repeatedKeys(line)
	var fields envelope
	meant, misspelled := "", ""
	for _, m := range members {
		if name := text(m.Name); !fields.take(name, m.Value) && meant == "" {
			meant, misspelled = meantBy(name), name
		}
	}
	answerTo := nullID
	if fields.id != nil && !repeated.atTop["id"] && isID(fields.id) {
		answerTo = fields.id
	}
	if repeated.first != nil {
		return invalid(answerTo, "the key %s is there twice", Quote(*repeated.first))
	}
	if meant != "" {
		return invalid(answerTo, "the field %q is spelled %q", meant, misspelled)
	}
	r := &request{params: fields.params}
	switch {
	case fields.id != nil && !isID(fields.id):
		return invalid(nullID, "an id is a number or a string")
	case !isString(fields.version) || text(fields.version) != "2.0":
		return invalid(answerTo, `jsonrpc must be "2.0"`)
	case !isString(fields.method) || text(fields.method) == "":
		return invalid(answerTo, "method must be a string")
	case r.params != nil && r.params[0] != '{':
		return invalid(answerTo, "params must be an object")
	}
	r.method = text(fields.method)
	if fields.id != nil {
		r.id = answerTo
	}
	return r, answerTo, nil
}

// envelope are the fields of a request, as they are spelled; nil where one is not there.
type envelope struct{ version, id, method, params json.RawMessage }

// take enters a field that is one of the envelope's.
func (e *envelope) take(name string, value []byte) bool {
	switch name {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	default:
		return false
	}
	return true
}

// meantBy is the field of the envelope that a name is but for the case of its letters, or nothing.
func meantBy(name string) string {
	for _, known := range []string{"jsonrpc", "id", "method", "params"} {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	return ""
}

// text reads a JSON string that is valid.
func text(spelled []byte) (value string) {
	if bytes.IndexByte(spelled, '\\') < 0 {
		return string(spelled[1 : len(spelled)-1])
	}
	_ = json.Unmarshal(spelled, &value)
	return value
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

// keys are those of an object so far. Few are compared one by one; an array has none.
type keys struct {
	ofArray bool
	few     []string
	many    map[string]bool
}

const fewKeys = 8

// has enters a key and tells whether it was there.
func (k *keys) has(key string) bool {
	if k.many == nil {
		if slices.Contains(k.few, key) {
			return true
		}
		if len(k.few) < fewKeys {
			k.few = append(k.few, key)
			return false
		}
		k.many = map[string]bool{}
		for _, one := range k.few {
			k.many[one] = true
		}
	}
	was := k.many[key]
	k.many[key] = true
	return was
}

// repeatedKeys walks a valid document whose outermost value is an object. It goes over the bytes itself: a decoder's tokens
// would take seconds for a line of many short keys, and nothing else is read meanwhile.
func repeatedKeys(line []byte) repeats {
	var found repeats
	var open []keys // of each object and array around
	wantKey := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '{':
			open = append(open, keys{})
			wantKey = true
		case '[':
			open = append(open, keys{ofArray: true})
			wantKey = false
		case '}', ']':
			open = open[:len(open)-1]
			wantKey = false
		case ',':
			wantKey = !open[len(open)-1].ofArray
		case '"':
			end := i + jsontext.StringLength(line[i:])
			if wantKey {
				if key := text(line[i:end]); open[len(open)-1].has(key) {
					found.note(key, len(open) == 1)
				}
				wantKey = false
			}
			i = end - 1
		}
	}
	return found
}

func (r *repeats) note(key string, atTop bool) {
	if r.first == nil {
		r.first = &key
	}
	if atTop {
		if r.atTop == nil {
			r.atTop = map[string]bool{}
		}
		r.atTop[key] = true
	}
}

// Quote is a name from a request for a message, however long it is.
func Quote(name string) string { return strconv.Quote(shortened(name)) }

func shortened(name string) string {
	const atMost = 64
	if len(name) > atMost {
		name = strings.ToValidUTF8(name[:atMost], "") + "…"
	}
	return name
}

// hasLoneSurrogate looks for an escape \uD800 to \uDFFF without its other half: it names no character, and decoders
// replace it without a word.
func hasLoneSurrogate(text []byte) bool {
	if bytes.IndexByte(text, '\\') < 0 {
		return false
	}
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

var (
	answering = json.RawMessage(`{"jsonrpc":"2.0","id":`)
	telling   = json.RawMessage(`{"jsonrpc":"2.0","method":`)
	closing   = json.RawMessage(`}`)
)

func resultFrame(to id, result json.RawMessage) []byte {
	return joinFrame(answering, to, json.RawMessage(`,"result":`), result, closing)
}

func errorFrame(to id, failure json.RawMessage) []byte {
	return joinFrame(answering, to, json.RawMessage(`,"error":`), failure, closing)
}

func notificationFrame(method, params json.RawMessage) []byte {
	return joinFrame(telling, method, json.RawMessage(`,"params":`), params, closing)
}

func streamFrame(of id, seq int, event, data json.RawMessage) []byte {
	head := fmt.Appendf(nil, `,"seq":%d,"event":`, seq)
	params := joinFrame(json.RawMessage(`{"id":`), of, head, event, json.RawMessage(`,"data":`), data, closing)
	return notificationFrame(json.RawMessage(`"stream"`), params)
}

// joinFrame leaves room for the end of the line.
func joinFrame(parts ...json.RawMessage) []byte {
	size := 1
	for _, part := range parts {
		size += len(part)
	}
	frame := make([]byte, 0, size)
	for _, part := range parts {
		frame = append(frame, part...)
	}
	return frame
}

// errLineTooLong says that a line was longer than MaxLine and was dropped up to its end.
var errLineTooLong = errors.New("the line is too long")

package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
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

package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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

func condition(word, message string) *Error {
	return &Error{Code: CodeApplication, Message: message, Data: Condition{Condition: word}}
}

// Quote is a name from a request for a message, however long it is.
func Quote(name string) string { return strconv.Quote(shortened(name)) }

// shortened cuts a name that is too long for a message or a line of the log.
func shortened(name string) string {
	const atMost = 64
	if len(name) > atMost {
		name = strings.ToValidUTF8(name[:atMost], "") + "…"
	}
	return name
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

// encodeNamed encodes what a frame names, and what it says of that.
func encodeNamed(name string, value any) (spelled, encoded json.RawMessage, err error) {
	if spelled, err = Encode(name); err != nil {
		return nil, nil, err
	}
	encoded, err = Encode(value)
	return spelled, encoded, err
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

package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"session-sidecar/internal/randomhex"
)

// Unexpected is what a host is told of a failure that it cannot act on (contract 1.6).
const Unexpected = "unexpected failure; the log has the details"

// resultOf makes the call and encodes its result. It turns a panic, in the encoding too, into an error: it fails this
// call only.
func resultOf(ctx context.Context, endpoint Endpoint, params json.RawMessage) (encoded json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			encoded, err = nil, &panicked{p, debug.Stack()}
		}
	}()
	result, err := endpoint.Call(ctx, params)
	if err != nil {
		return nil, err
	}
	return Encode(result)
}

type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// wireError is the one way from a handler's error to an answer. An unexpected one is answered with an incident id alone;
// its detail goes to the log.
func (s *Server) wireError(ctx context.Context, err error) *Error {
	if ours, is := errors.AsType[*Error](err); is {
		return ours
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &Error{
			Code: CodeCancelled, Message: "the call was cancelled",
			Data: Condition{Condition: ConditionCancelled},
		}
	}
	incident := randomhex.New(4)
	if p, is := errors.AsType[*panicked](err); is {
		s.log.Error("a call panicked", "incident", incident, "error", err, "stack", string(p.stack))
	} else {
		s.log.Error("a call failed unexpectedly", "incident", incident, "error", err)
	}
	return &Error{Code: CodeInternal, Message: Unexpected, Data: map[string]string{"incident": incident}}
}

// failureFrame is the error answer to an id. Data that cannot be encoded is left out: a host waits for the rest.
func (s *Server) failureFrame(to id, failure *Error) []byte {
	encoded, err := Encode(failure)
	if err != nil {
		s.log.Error("an error's data could not be encoded", "error", err)
		encoded, _ = Encode(&Error{Code: failure.Code, Message: failure.Message})
	}
	return errorFrame(to, encoded)
}

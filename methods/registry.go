// Package methods holds every method that a host can call: it decodes parameters, calls the packages that do the work,
// and maps their errors to the wire. One registration of a method gives its decoding, its JSON Schema and its entry in
// rpc.discover.
package methods

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/jsonschema-go/jsonschema"

	"session-sidecar/rpc"
)

// spec is one registration. P is the struct of the parameters, R the result.
type spec[P, R any] struct {
	name    string
	summary string
	// inline methods are finished before the next line is read and take no slot (contract 1.4, 1.9).
	inline bool
	// brief methods wait for nothing, no disk and no lock that is held for long.
	brief bool
	// lenient methods ignore fields that they do not know, for older hosts (contract 1.7).
	lenient bool
	// refusesInside methods give their reasons in their result, not as errors (contract 1.10).
	refusesInside bool
	// reasons are the words that its result or its error answer may carry, beside those of every method.
	reasons []Reason
	// streams are the events of its stream frames.
	streams []streamed
	// before sees the fields before they are checked; an error ends the call.
	before func(ctx context.Context, fields map[string]json.RawMessage) error
	// call does the work. With an error its result counts for nothing; the error is answered as the one table says.
	call func(ctx context.Context, params P) (R, error)
}

// method is a registration with its types worked out.
type method struct {
	name, summary string
	inline, brief bool
	refusesInside bool
	reasons       []Reason
	streams       []streamed
	// Schemas are made when they are first asked for: made at the start, they were most of what a start took.
	params func() *jsonschema.Resolved
	result func() *jsonschema.Schema
	call   func(ctx context.Context, raw json.RawMessage) (any, error)
}

// Registry holds the methods by their names.
type Registry struct {
	methods map[string]*method
	// gate refuses a method whose turn has not come; see host.
	gate func(name string) *rpc.Error
	// close ends what the methods have left to be done in the background.
	close func()

	notifications []func() notification
	notify        atomic.Pointer[func(method string, params any) error] // to the host; see Attach
}

// Close ends what goes on behind the calls, when no call is made any more. It waits only a moment.
func (r *Registry) Close() { r.close() }

// register adds a method. A type that has no JSON Schema is a mistake of this build, found by the first test.
func register[P, R any](r *Registry, s spec[P, R]) {
	params := sync.OnceValue(func() *jsonschema.Resolved {
		schema := schemaFor[P]()
		checked, err := schema.Resolve(nil)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", s.name, err))
		}
		if s.lenient {
			schema.AdditionalProperties = nil
		}
		return checked
	})
	takesNothing := reflect.TypeFor[P]().NumField() == 0 // no schema is needed to see that nothing fits it
	r.methods[s.name] = &method{
		name: s.name, summary: s.summary, inline: s.inline, brief: s.brief, refusesInside: s.refusesInside, reasons: s.reasons, streams: s.streams,
		params: params, result: sync.OnceValue(schemaFor[R]),
		call: func(ctx context.Context, raw json.RawMessage) (any, error) {
			fields, err := fieldsOf(raw)
			if err != nil {
				return nil, err
			}
			if s.before != nil {
				if err := s.before(ctx, fields); err != nil {
					return nil, err
				}
			}
			var p P
			if len(fields) > 0 || !takesNothing {
				if err := decodeParams(fields, params(), s.lenient, &p); err != nil {
					return nil, err
				}
			}
			result, err := s.call(ctx, p)
			if err != nil {
				return nil, conditionOf(err)
			}
			return result, nil
		},
	}
}

// Route finds a method for the transport. Before a good handshake every method outside rpc.* and runtime.*, known or
// not, is refused (contract 1.9).
func (r *Registry) Route(name string) (rpc.Endpoint, *rpc.Error) {
	if refusal := r.gate(name); refusal != nil {
		return rpc.Endpoint{}, refusal
	}
	m := r.methods[name]
	if m == nil {
		return rpc.Endpoint{}, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "there is no method " + rpc.Quote(name)}
	}
	return rpc.Endpoint{Inline: m.inline, Brief: m.brief, Call: m.call}, nil
}

// names lists the methods, sorted.
func (r *Registry) names() []string { return slices.Sorted(maps.Keys(r.methods)) }

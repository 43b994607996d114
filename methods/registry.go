// Package methods holds every method that a host can call: it decodes parameters, calls the packages that do the work,
// and maps their errors to the wire. One registration of a method gives its decoding, its JSON Schema and its entry in
// rpc.discover.
package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/jsonschema-go/jsonschema"

	"session-sidecar/internal/lazyregexp"
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
	call   func(ctx context.Context, params P) (R, error)
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
	// gate refuses a method whose turn has not come; see session.
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
			if len(fields) == 0 && takesNothing {
				return s.call(ctx, p)
			}
			if err := decodeParams(fields, params(), s.lenient, &p); err != nil {
				return nil, err
			}
			return s.call(ctx, p)
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

func fieldsOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if raw == nil {
		return fields, nil
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, invalidParams("params: %v", err)
	}
	return fields, nil
}

// decodeParams checks the fields against the method's own schema, then decodes them. The names are compared exactly
// first, because encoding/json would take a field in any case. A name that is one of ours but for its case, its underscores and
// dashes is refused where other unknown ones are ignored too: who spells keepDays must not find that nothing was kept.
func decodeParams(fields map[string]json.RawMessage, checked *jsonschema.Resolved, lenient bool, into any) error {
	known := checked.Schema().Properties
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if known[field] != nil {
			continue
		}
		for name := range known {
			if strings.EqualFold(withoutJoints.Replace(field), withoutJoints.Replace(name)) {
				return invalidParams("the field %q is spelled %s", name, rpc.Quote(field))
			}
		}
		if !lenient {
			return invalidParams("there is no field %s", rpc.Quote(field))
		}
		delete(fields, field)
	}
	text, err := rpc.Encode(fields) // which leaves the bytes of an id as they are
	if err != nil {
		return invalidParams("params: %v", err)
	}
	instance, err := instanceOf(text)
	if err != nil {
		return invalidParams("params: %v", err)
	}
	if err := checked.Validate(instance); err != nil {
		return explain(checked.Schema(), fields, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return outOfRange(err)
	}
	return nil
}

// withoutJoints takes out what joins the words of a name.
var withoutJoints = strings.NewReplacer("_", "", "-", "")

// instanceOf decodes fields for their schema. A number beyond float64 is an infinity there: it is legal JSON, and the id of a
// request may be one.
func instanceOf(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return withFloats(value), nil
}

func withFloats(value any) any {
	switch v := value.(type) {
	case json.Number:
		f, _ := v.Float64() // an infinity where it is out of range
		return f
	case []any:
		for i := range v {
			v[i] = withFloats(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withFloats(v[key])
		}
	}
	return value
}

// outOfRange puts in words the one thing that can still be wrong with fields that are JSON and fit their schema. The
// decoder's own words would repeat the number, however long it is.
func outOfRange(err error) error {
	var where *json.UnmarshalTypeError
	if errors.As(err, &where) && where.Field != "" {
		_, field, nested := strings.Cut(where.Field, ".") // the name of a struct of ours stands before it
		if !nested {
			field = where.Field
		}
		return invalidParams("the number in the field %q is out of range, or not spelled as an integer", field)
	}
	return invalidParams("a number is out of range")
}

// offending finds the field that a schema's error speaks of.
var offending = lazyregexp.New(`/properties/([a-z_]+)`)

// explain says in one line of bounded length what is wrong with the fields. The validator's own words would repeat the
// value, however long it is.
func explain(schema *jsonschema.Schema, fields map[string]json.RawMessage, err error) error {
	for _, name := range schema.Required {
		if fields[name] == nil {
			return invalidParams("the field %q is missing", name)
		}
	}
	m := offending().FindStringSubmatch(err.Error())
	if m == nil {
		return invalidParams("the parameters do not fit the method's schema")
	}
	property := schema.Properties[m[1]]
	if property.Items != nil && strings.Contains(err.Error(), "/items") {
		return invalidParams("each element of the field %q must be %s", m[1], describe(property.Items))
	}
	return invalidParams("the field %q must be %s", m[1], describe(property))
}

// describe puts a property's schema in words.
func describe(property *jsonschema.Schema) string {
	kinds := property.Types
	if property.Type != "" {
		kinds = []string{property.Type}
	}
	words := "of type " + strings.Join(kinds, " or ")
	if property.MinLength != nil && *property.MinLength > 0 {
		words += " and not empty"
	}
	if property.MaxLength != nil {
		words += fmt.Sprintf(" and of at most %d characters", *property.MaxLength)
	}
	switch {
	case property.Minimum != nil && property.Maximum != nil:
		words += fmt.Sprintf(" from %g to %g", *property.Minimum, *property.Maximum)
	case property.Minimum != nil:
		words += fmt.Sprintf(" from %g", *property.Minimum)
	}
	if property.Pattern != "" {
		words += " and match " + property.Pattern
	}
	return words
}

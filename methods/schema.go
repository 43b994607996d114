package methods

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"session-sidecar/internal/sessionid"
)

// ProfileHome is the folder of an Agent profile, as the host names it.
type ProfileHome string

// SessionID is an id that a request may name (contract 2).
type SessionID string

// LiteralTrue is true only where the request holds the literal true; any other value is false and no error (contract 4).
type LiteralTrue bool

// UnmarshalJSON reads any value.
func (l *LiteralTrue) UnmarshalJSON(text []byte) error {
	*l = string(text) == "true"
	return nil
}

// RequestID is the id of a request, as it was spelled.
type RequestID json.RawMessage

// UnmarshalJSON keeps the bytes.
func (r *RequestID) UnmarshalJSON(text []byte) error {
	*r = slices.Clone(text)
	return nil
}

// Document is any JSON object.
type Document map[string]any

// typeSchemas are the schemas of the types above; all others follow from their Go types.
var typeSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[ProfileHome](): {Type: "string", MinLength: jsonschema.Ptr(1)},
	reflect.TypeFor[SessionID]():   {Type: "string", Pattern: sessionid.Pattern},
	reflect.TypeFor[LiteralTrue](): {},
	reflect.TypeFor[RequestID]():   {Types: []string{"number", "string"}},
	reflect.TypeFor[Document]():    {Type: "object"},
}

// schemaFor gives the JSON Schema of a type. Absent values are left out on the wire and never null (contract 1.10), so a
// pointer is an optional value and not a null one.
func schemaFor[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: typeSchemas})
	if err != nil {
		panic(fmt.Sprintf("no JSON Schema for %v: %v", reflect.TypeFor[T](), err))
	}
	return withoutNull(schema)
}

func withoutNull(schema *jsonschema.Schema) *jsonschema.Schema {
	if schema == nil {
		return nil
	}
	if i := slices.Index(schema.Types, "null"); i >= 0 {
		schema.Types = slices.Delete(slices.Clone(schema.Types), i, i+1)
		if len(schema.Types) == 1 {
			schema.Type, schema.Types = schema.Types[0], nil
		}
	}
	withoutNull(schema.Items)
	withoutNull(schema.AdditionalProperties)
	for _, property := range schema.Properties {
		withoutNull(property)
	}
	return schema
}

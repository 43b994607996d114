package methods

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"session-sidecar/internal/operationid"
	"session-sidecar/internal/sessionid"
	"session-sidecar/statedb"
)

// ProfileHome is the folder of an Agent profile, as the host names it.
type ProfileHome string

// SessionID is an id that a request may name (contract 2).
type SessionID string

func texts(ids []SessionID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return texts
}

// AnyText is a text of 1 to 1024 characters that is only ever hashed or compared, and so need be no id that could be looked up.
type AnyText string

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
	reflect.TypeFor[ProfileHome]():          {Type: "string", MinLength: new(1)},
	reflect.TypeFor[SessionID]():            {Type: "string", Pattern: sessionid.Pattern},
	reflect.TypeFor[LiteralTrue]():          {},
	reflect.TypeFor[RequestID]():            {Types: []string{"number", "string"}},
	reflect.TypeFor[AnyText]():              {Type: "string", MinLength: new(1), MaxLength: new(1024)},
	reflect.TypeFor[Document]():             {Type: "object"},
	reflect.TypeFor[Deletion]():             {Types: nullOrObject},
	reflect.TypeFor[OperationID]():          {Type: "string", Pattern: operationid.Pattern},
	reflect.TypeFor[KeepDays]():             {Type: "integer", Minimum: new(1.0), Maximum: new(float64(MaxKeepDays))},
	reflect.TypeFor[Sequence]():             {Type: "integer", Minimum: new(0.0)},
	reflect.TypeFor[PageLimit]():            {Type: "integer", Minimum: new(1.0), Maximum: new(float64(MaxReceipts))},
	reflect.TypeFor[AnyValue]():             {},
	reflect.TypeFor[Namespace]():            {Type: "string", Pattern: statedb.NamespacePattern},
	reflect.TypeFor[statedb.CompactPhase](): {Type: "string", Enum: []any{statedb.PhaseVacuum, statedb.PhaseCheckpoint}},
}

// schemaFor gives the JSON Schema of a type. Absent values are left out on the wire and never null (contract 1.10), so a
// pointer is an optional value and not a null one; only where it points to an object and is never left out is its null one of
// the values that a shape of the contract has.
func schemaFor[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: typeSchemas})
	if err != nil {
		panic(fmt.Sprintf("no JSON Schema for %v: %v", reflect.TypeFor[T](), err))
	}
	return withoutNull(schema)
}

// nullOrObject are the types of a pointer to a struct, as the schema of a Go type names them.
var nullOrObject = []string{"null", "object"}

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
	for name, property := range schema.Properties {
		kinds := property.Types
		withoutNull(property)
		if slices.Contains(schema.Required, name) && slices.Equal(kinds, nullOrObject) {
			property.Type, property.Types = "", kinds
		}
	}
	return schema
}

// nonNil makes an absent list an empty one: these are always there on the wire.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"session-sidecar/rpc"
)

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
	if checked.Validate(instance) != nil {
		return explain(checked.Schema(), instance)
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
	if where, is := errors.AsType[*json.UnmarshalTypeError](err); is && where.Field != "" {
		_, field, nested := strings.Cut(where.Field, ".") // the name of a struct of ours stands before it
		if !nested {
			field = where.Field
		}
		return invalidParams("the number in the field %q is out of range, or not spelled as an integer", field)
	}
	return invalidParams("a number is out of range")
}

// explain says in one line of bounded length what is wrong with the fields. The validator's own words would repeat the
// value, however long it is, and name any of several that are wrong: the same request is to get the same answer.
func explain(schema *jsonschema.Schema, instance any) error {
	fields, _ := instance.(map[string]any)
	for _, name := range schema.Required {
		if _, there := fields[name]; !there {
			return invalidParams("the field %q is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		property := schema.Properties[name]
		checked, err := property.Resolve(nil)
		if err != nil {
			return err
		}
		err = checked.Validate(fields[name])
		switch {
		case err == nil:
			continue
		case property.Items != nil && strings.Contains(err.Error(), "/items"):
			return invalidParams("each element of the field %q must be %s", name, describe(property.Items))
		}
		return invalidParams("the field %q must be %s", name, describe(property))
	}
	return invalidParams("the parameters do not fit the method's schema")
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

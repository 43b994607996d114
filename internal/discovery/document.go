// Package discovery reads the document that rpc.discover answers: it makes the parts of docs/protocol.md that describe methods, and
// compares what the wire offers with what an earlier version of it promised. Only tests import it.
package discovery

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"session-sidecar/internal/jsontext"
)

// Document is the discovery document.
type Document struct {
	Methods       []Method
	Reasons       map[string]Meaning `json:"x-reasons"`
	Notifications []Notification     `json:"x-notifications"`
}

// Method is one method of it.
type Method struct {
	Name    string
	Summary string
	Params  *Schema `json:"x-params-schema"`
	Result  struct{ Schema *Schema }
	Errors  []ErrorAnswer
	Reasons []string `json:"x-reasons"`
	Events  []Event  `json:"x-streams"`
}

// ErrorAnswer is what a method may answer instead of a result.
type ErrorAnswer struct {
	Code int
	Data struct{ Condition string }
}

// Meaning is what the document says of a reason or condition.
type Meaning struct {
	Retryable   bool
	Sentence    string
	Description string
}

// Event is what stream frames of one name hold.
type Event struct {
	Name        string
	Description string
	Schema      *Schema
}

// Notification is what a host is told unasked.
type Notification struct {
	Name    string
	Summary string
	Params  *Schema
}

// Schema is a JSON Schema of the few forms that the document uses.
type Schema struct {
	Type        types
	Description string
	Properties  properties
	Required    []string
	Items       *Schema
	Others      others `json:"additionalProperties"`
	Pattern     string
	Enum        []string
	Minimum     *float64
	Maximum     *float64
	MinLength   *int
	MaxLength   *int
}

// types are the types that a value may have; none means any.
type types []string

// UnmarshalJSON reads one name or a list of them.
func (t *types) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// property is a field of an object.
type property struct {
	Name   string
	Schema *Schema
}

// properties keep the order in which the document has them.
type properties []property

// UnmarshalJSON reads an object.
func (p *properties) UnmarshalJSON(text []byte) error {
	members, ok := jsontext.Members(text)
	if !ok {
		return errors.New("properties are no object")
	}
	for _, member := range members {
		var field property
		if err := json.Unmarshal(member.Name, &field.Name); err != nil {
			return err
		}
		if err := json.Unmarshal(member.Value, &field.Schema); err != nil {
			return err
		}
		*p = append(*p, field)
	}
	return nil
}

// others are the fields of an object beside those that are named: refused, let through, or all of one schema.
type others struct {
	Refused bool
	Schema  *Schema
}

// UnmarshalJSON reads false or a schema.
func (o *others) UnmarshalJSON(text []byte) error {
	if allowed := true; json.Unmarshal(text, &allowed) == nil {
		o.Refused = !allowed
		return nil
	}
	schema := &Schema{}
	if err := json.Unmarshal(text, schema); err != nil {
		return err
	}
	o.Refused = schema.Others.Refused && len(schema.Type) == 0
	o.Schema = schema
	return nil
}

// Read decodes the document.
func Read(text []byte) (*Document, error) {
	var document Document
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	return &document, nil
}

// method finds a method by its name.
func (d *Document) method(name string) *Method {
	if i := slices.IndexFunc(d.Methods, func(m Method) bool { return m.Name == name }); i >= 0 {
		return &d.Methods[i]
	}
	return nil
}

// field is a value somewhere inside an object. Its path names it: a.b is the field b of the object a, a[] an element of the list a,
// and a{} a value of the map a.
type field struct {
	path   string
	schema *Schema
	always bool // of a parameter: it is required
}

// fieldsOf lists all that is inside an object, each value before what is in it. Of an object inside it only as many fields are
// listed as shown says.
func fieldsOf(object *Schema, shown func(*Schema) int) []field {
	var fields []field
	var within func(path string, s *Schema, most int)
	within = func(path string, s *Schema, most int) {
		for _, p := range s.Properties[:most] {
			name := p.Name
			if path != "" {
				name = path + "." + name
			}
			fields = append(fields, field{name, p.Schema, slices.Contains(s.Required, p.Name)})
			within(name, p.Schema, shown(p.Schema))
		}
		element := func(name string, of *Schema) {
			if of != nil && len(of.Type) > 0 {
				fields = append(fields, field{name, of, true})
				within(name, of, shown(of))
			}
		}
		element(path+"[]", s.Items)
		element(path+"{}", s.Others.Schema)
	}
	within("", object, len(object.Properties))
	return fields
}

// all shows every field.
func all(s *Schema) int { return len(s.Properties) }

// Undescribed lists what the document names and does not tell of: parameters, fields and reasons.
func (d *Document) Undescribed() []string {
	var bare []string
	look := func(where string, object *Schema) {
		for _, f := range fieldsOf(object, all) {
			if element := strings.HasSuffix(f.path, "[]") || strings.HasSuffix(f.path, "{}"); !element && f.schema.Description == "" {
				bare = append(bare, where+" "+f.path)
			}
		}
	}
	for _, m := range d.Methods {
		look(m.Name+" takes", m.Params)
		look(m.Name+" gives", m.Result.Schema)
		for _, event := range m.Events {
			look(m.Name+" streams "+event.Name, event.Schema)
		}
	}
	for _, n := range d.Notifications {
		look(n.Name, n.Params)
	}
	for word, meaning := range d.Reasons {
		if meaning.Description == "" {
			bare = append(bare, word)
		}
	}
	return bare
}

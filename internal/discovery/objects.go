package discovery

import (
	"fmt"
	"strings"
)

// objects are the shapes that stand in more than one answer. A page tells of each once, under the name that it has here; where it is
// found says what it is.
var objects = []struct{ name, method, path, is string }{
	{"guard", "state_db.preview_delete", "guards", "What keeps somebody's work from being deleted under it."},
	{"cleanup", "state_db.delete_cli_session", "cleanup", "What is left to clean up in a home."},
	{"pending", "state_db.delete_cli_session", "cleanup.pending", "Something that could not be removed yet."},
	{"remainder", "state_db.preview_delete", "retained", "Something of a conversation that stays."},
	{"erasure", "state_db.delete_cli_session", "erase", "What can still be read of a delete in the files of the store."},
}

// object finds the shape of one of the objects; it is nil where the document does not have it any more.
func (d *Document) object(i int) *Schema {
	method := d.method(objects[i].method)
	if method == nil {
		return nil
	}
	s := method.Result.Schema
	for name := range strings.SplitSeq(objects[i].path, ".") {
		if s = s.property(name); s == nil {
			return nil
		}
		if s.Items != nil {
			s = s.Items
		}
	}
	return s
}

func (s *Schema) property(name string) *Schema {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// objectName names a shape that a page tells of elsewhere: an object, or the result of a method. Where it is a result with fields before
// it, own is how many those are.
func (d *Document) objectName(s *Schema) (name string, own int) {
	if len(s.Properties) == 0 {
		return "", 0
	}
	for i, object := range objects {
		if shape := d.object(i); shape != nil && sameFields(shape, s) {
			return linkTo(object.name), 0
		}
	}
	for _, m := range d.Methods {
		if result := m.Result.Schema; len(result.Properties) >= 5 {
			if sameFields(result, s) {
				return "result of " + linkTo(m.Name), 0
			}
			if more := len(s.Properties) - len(result.Properties); extends(s, result) {
				return "object: these, then the result of " + linkTo(m.Name), more
			}
		}
	}
	return "", 0
}

// extends tells whether an object ends with all fields of another one.
func extends(s, of *Schema) bool {
	more := len(s.Properties) - len(of.Properties)
	if more <= 0 {
		return false
	}
	for i, p := range of.Properties {
		if mine := s.Properties[more+i]; mine.Name != p.Name || !sameFields(mine.Schema, p.Schema) {
			return false
		}
	}
	return true
}

// shown tells how many fields of an object are told of where it stands.
func (d *Document) shown(s *Schema) int {
	if name, own := d.objectName(s); name != "" {
		return own
	}
	return len(s.Properties)
}

func (d *Document) objectSections() string {
	text := ""
	for i, object := range objects {
		shape := d.object(i)
		if shape == nil {
			continue
		}
		text += fmt.Sprintf("\n#### %s\n\n%s\n\n", object.name, object.is) + d.table(shape)
	}
	return text
}

// linkTo leads to a section of the page.
func linkTo(heading string) string {
	anchor := strings.ReplaceAll(heading, ".", "")
	return fmt.Sprintf("[%s](#%s)", heading, anchor)
}

// Words for the patterns that the document has.
var patterns = map[string]string{
	"^[A-Za-z0-9_.:-]{1,128}$": "session id",
	"^[0-9a-f]{32}$":           "operation id",
}

// typeWords says in a few words what a value may be.
func (d *Document) typeWords(s *Schema) string {
	if name, _ := d.objectName(s); name != "" {
		return name
	}
	if len(s.Type) == 0 {
		if strings.HasPrefix(s.Description, "true: ") {
			return "flag"
		}
		return "any"
	}
	var words []string
	for _, kind := range s.Type {
		words = append(words, d.kindWords(kind, s))
	}
	return strings.Join(words, " or ")
}

func (d *Document) kindWords(kind string, s *Schema) string {
	switch {
	case kind == "array" && s.Items != nil:
		return "list of " + plural(d.typeWords(s.Items))
	case kind == "object" && len(s.Properties) == 0 && s.Others.Schema != nil && len(s.Others.Schema.Type) > 0:
		return "map to " + d.typeWords(s.Others.Schema)
	case kind == "string" && len(s.Enum) > 0:
		return "`" + strings.Join(s.Enum, "`, `") + "`"
	case kind == "string" && patterns[s.Pattern] != "":
		return patterns[s.Pattern]
	case kind == "string" && s.Pattern != "":
		return "string, `" + s.Pattern + "`"
	case kind == "string" && s.MaxLength != nil && s.MinLength != nil:
		return fmt.Sprintf("string of %d to %d characters", *s.MinLength, *s.MaxLength)
	case kind == "integer" && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("integer, %g to %g", *s.Minimum, *s.Maximum)
	case kind == "integer" && s.Minimum != nil:
		return fmt.Sprintf("integer from %g", *s.Minimum)
	}
	return kind
}

// plural makes a word for one value a word for many.
func plural(words string) string {
	switch words {
	case "string", "object", "integer", "session id", "operation id":
		return words + "s"
	}
	return words
}

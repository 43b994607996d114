package discovery

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// madePart is a part of a page that is made from the document: what it is stands in its first line.
var madePart = regexp.MustCompile(`(?s)(<!-- made from rpc\.discover: begin ([^\n]*) -->\n)(.*?)(<!-- made from rpc\.discover: end -->)`)

// Fill gives a page with its made parts as the document has them now. Each method must stand in one part, and in no other. A part
// begins with a comment that says what is in it: "methods" and their names, "objects", "notifications", or "reasons".
func (d *Document) Fill(page string) (string, error) {
	var wrong error
	shown := map[string]int{}
	filled := madePart.ReplaceAllStringFunc(page, func(part string) string {
		m := madePart.FindStringSubmatch(part)
		what := strings.Fields(m[2])
		var text string
		switch {
		case len(what) > 1 && what[0] == "methods":
			for _, name := range what[1:] {
				method := d.method(name)
				if method == nil {
					wrong = fmt.Errorf("there is no method %s", name)
					return part
				}
				shown[name]++
				text += d.methodSection(method)
			}
		case m[2] == "objects":
			text = d.objectSections()
		case m[2] == "notifications":
			text = d.notificationSections()
		case m[2] == "reasons":
			text = d.reasonTable()
		default:
			wrong = fmt.Errorf("no part of a page is called %q", m[2])
		}
		return m[1] + text + "\n" + m[4]
	})
	for _, method := range d.Methods {
		if shown[method.Name] != 1 && wrong == nil {
			wrong = fmt.Errorf("%s stands in %d parts of the page: write its name into the mark of the one where it belongs", method.Name, shown[method.Name])
		}
	}
	return filled, wrong
}

// profileHome is the parameter of nearly every method; a page tells of it once.
const (
	profileHome        = "profile_home"
	profileHomeMeaning = "the Agent profile's folder, which holds state.db"
)

// anyStore are the conditions of every method that opens a store; a page tells of them once.
var anyStore = []string{"io_error", "store_busy", "store_corrupt", "store_missing", "store_unsupported"}

func (d *Document) methodSection(m *Method) string {
	text := fmt.Sprintf("\n#### %s\n\n%s", m.Name, cell(m.Summary))
	takes := "takes"
	params := slices.DeleteFunc(fieldsOf(m.Params, d.shown), func(f field) bool {
		common := f.path == profileHome && f.schema.Description == profileHomeMeaning
		if common {
			takes += ", beside `" + profileHome + "`"
		}
		return common
	})
	if before := d.sameParams(m); before != "" {
		text += fmt.Sprintf(" It takes what %s takes.", linkTo(before))
		takes, params = "takes", nil
	}
	table, result := d.rows(params), d.rows(fieldsOf(m.Result.Schema, d.shown))
	switch {
	case table != "" && result != "":
		table = tableHead(takes) + table + "| **gives** | | |\n" + result
	case table != "":
		table = tableHead(takes) + table
	case result != "" && takes != "takes":
		table = tableHead("takes `"+profileHome+"`, gives") + result
	case result != "":
		table = tableHead("gives") + result
	}
	for _, event := range m.Events {
		table += fmt.Sprintf("| **streams `%s`** | | %s |\n", event.Name, cell(event.Description)) + d.rows(fieldsOf(event.Schema, d.shown))
	}
	if table += d.ownConditions(m); table != "" {
		text += "\n\n" + strings.TrimSuffix(table, "\n")
	}
	return text + "\n"
}

// sameParams names an earlier method whose parameters are the same, if they are worth a look there.
func (d *Document) sameParams(m *Method) string {
	for _, other := range d.Methods {
		if other.Name < m.Name && len(m.Params.Properties) > 2 && sameFields(&Schema{Properties: other.Params.Properties}, &Schema{Properties: m.Params.Properties}) {
			return other.Name
		}
	}
	return ""
}

func tableHead(first string) string { return fmt.Sprintf("| %s | type | |\n|---|---|---|\n", first) }

// rows tells of fields, one a line. A question mark stands after what may be absent.
func (d *Document) rows(fields []field) string {
	text := ""
	for _, f := range fields {
		if strings.HasSuffix(f.path, "[]") || strings.HasSuffix(f.path, "{}") {
			continue // its list or map tells of it
		}
		mark := ""
		if !f.always {
			mark = "?"
		}
		text += fmt.Sprintf("| `%s`%s | %s | %s |\n", f.path, mark, d.typeWords(f.schema), cell(f.schema.Description))
	}
	return text
}

// table is a table of the fields of an object.
func (d *Document) table(object *Schema) string {
	return tableHead("field") + d.rows(fieldsOf(object, d.shown))
}

// ownConditions tells what a method may answer beside what every method, and every method of a store, may.
func (d *Document) ownConditions(m *Method) string {
	own := slices.DeleteFunc(slices.Clone(m.Reasons), func(reason string) bool {
		return d.ofEveryMethod(reason) || reason == "handshake_required"
	})
	if !slices.ContainsFunc(anyStore, func(word string) bool { return !slices.Contains(own, word) }) {
		own = slices.DeleteFunc(own, func(word string) bool { return slices.Contains(anyStore, word) })
	}
	if len(own) == 0 {
		return ""
	}
	where := "conditions"
	if !slices.ContainsFunc(m.Errors, func(e ErrorAnswer) bool { return e.Data.Condition == own[0] }) {
		where = "reasons"
	}
	return fmt.Sprintf("| **%s** | | `%s` |\n", where, strings.Join(own, "`, `"))
}

func (d *Document) ofEveryMethod(reason string) bool {
	return !slices.ContainsFunc(d.Methods, func(m Method) bool { return !slices.Contains(m.Reasons, reason) })
}

func (d *Document) notificationSections() string {
	text := ""
	for _, n := range d.Notifications {
		text += fmt.Sprintf("\n#### %s\n\n%s\n\n", n.Name, cell(n.Summary)) + d.table(n.Params)
	}
	return text
}

func (d *Document) reasonTable() string {
	text := "\n| word | again? | what it means | for the user |\n|---|---|---|---|\n"
	for _, word := range slices.Sorted(maps.Keys(d.Reasons)) {
		again := "no"
		if d.Reasons[word].Retryable {
			again = "yes"
		}
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", word, again, cell(d.Reasons[word].Description), d.Reasons[word].Sentence)
	}
	return text
}

// named are the words in a description that are set as code: names with an underscore, and the files of a home.
var named = regexp.MustCompile(`\b(?:trash|receipts|cleanup|rpc|runtime|state_db)\.[a-z_]+\b|\b(?:[a-z_]+\.)?[a-z]+(?:_[a-z]+)+\b|-32[0-9]{3}\b|\b(?:state\.db|sessions/)|'[^']*_[^']*'`)

// cell makes a description a cell of a table.
func cell(text string) string {
	text = named.ReplaceAllStringFunc(text, func(word string) string { return "`" + strings.Trim(word, "'") + "`" })
	return strings.ReplaceAll(text, "|", `\|`)
}

// sameFields compares two objects by what is on the wire, apart from what is said of them.
func sameFields(a, b *Schema) bool { return fingerprint(a) == fingerprint(b) }

func fingerprint(s *Schema) string {
	text, err := json.Marshal(plain(s))
	if err != nil {
		panic(err) // a Schema is made of what JSON can hold
	}
	return string(text)
}

// plain leaves the descriptions out.
func plain(s *Schema) *Schema {
	if s == nil {
		return nil
	}
	bare := *s
	bare.Description, bare.Properties = "", nil
	for _, p := range s.Properties {
		bare.Properties = append(bare.Properties, property{p.Name, plain(p.Schema)})
	}
	bare.Items, bare.Others.Schema = plain(s.Items), plain(s.Others.Schema)
	return &bare
}

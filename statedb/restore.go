package statedb

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
	"session-sidecar/internal/sqlname"
)

// What becomes of a copied row when it comes back (contract 10.5): functions of data. The SQL is in restore_sql.go and restore_fit_sql.go.

// routingColumns would bring messages of others to a session that came back: they stay empty.
var routingColumns = []string{"session_key", "chat_id", "chat_type", "thread_id", "user_id", "origin_json"}

// isRuntimeCounter tells a column that the Agent's runtime counts in: it starts anew.
func isRuntimeCounter(column string) bool { return strings.HasPrefix(column, "runtime_") }

// restoredSession is a row of sessions under its new id. What pointed at a member points at it under its new id, what pointed at
// another points at nothing.
func restoredSession(cells map[string]any, renamed map[string]string) map[string]any {
	row := map[string]any{}
	for column, value := range cells {
		switch folded := sqlname.Fold(column); {
		case slices.Contains(routingColumns, folded), isRuntimeCounter(folded):
			continue
		case folded == "id":
			value = renamedOrNil(value, renamed)
		case folded == "parent_session_id":
			value = renamedOrNil(value, renamed)
		case folded == "model_config":
			switch config := value.(type) {
			case string:
				value = restoredConfig(config, renamed)
			case []byte:
				value = []byte(restoredConfig(string(config), renamed))
			}
		}
		row[column] = value
	}
	return row
}

func renamedOrNil(value any, renamed map[string]string) any {
	if id, is := value.(string); is && renamed[id] != "" { // NULL is not the id ""
		return renamed[id]
	}
	return nil
}

// restoredConfig maps the markers of a model_config and leaves every other member to the byte. A marker that names no member goes; of
// equal names the last one counts, and the others go with it, so that no reader finds another one.
func restoredConfig(text string, renamed map[string]string) string {
	if !mayHoldMarker(text) {
		return text
	}
	if utf8.ValidString(text) && !readMarkers(&text).readable {
		return text // without its broken member it would become readable
	}
	members, ok := jsontext.Members([]byte(text))
	if !ok {
		return text // no reader finds a marker in it
	}
	last := map[string]int{}
	for i, m := range members {
		if name, is := markerName(m.Name); is {
			last[name] = i
		}
	}
	if len(last) == 0 {
		return text
	}
	var out strings.Builder
	kept := 0
	for i, m := range members {
		value := string(m.Value)
		if name, is := markerName(m.Name); is {
			var named *string // nil for null, which is not the id ""
			if last[name] != i || json.Unmarshal(m.Value, &named) != nil || named == nil || renamed[*named] == "" {
				continue
			}
			value = `"` + renamed[*named] + `"` // which needs no escapes
		}
		if kept > 0 {
			out.WriteString(", ")
		}
		kept++
		out.Write(m.Name)
		out.WriteString(": " + value)
	}
	return "{" + out.String() + "}"
}

// markerName reads a name as it is spelled, and tells whether it is that of a marker.
func markerName(spelled []byte) (name string, is bool) {
	if json.Unmarshal(spelled, &name) != nil {
		return "", false
	}
	return name, name == keyDelegate || name == keyBranch || name == keyReset
}

// cellOf is the value of a column, in whatever case its name is spelled.
func cellOf(cells map[string]any, column string) any {
	_, value, _ := sqlname.Find(cells, column)
	return value
}

// restoredTable is a table of the store that takes rows.
type restoredTable struct {
	columns    map[string]restoredColumn // by their names as SQLite compares them
	references []restoredReference
	conflicts  bool  // its schema says what a row does to those in its way
	numbered   bool  // a column that is no rowid, but numbers the messages
	number     int64 // the last one that was given
	rows       int
}

type restoredColumn struct {
	name     string
	required bool // NOT NULL without a default
	own      bool // the store gives it by itself: a generated column, or a rowid
}

// keyOf is the column by which a row of a copied table is found; a store whose table lacks it has none of that name.
func keyOf(table string) string {
	if table == promptsTable {
		return "hash"
	}
	t, _ := hangingNamed(table)
	return t.key
}

// fittedRow is what is inserted of a row.
type fittedRow struct {
	names   []string // of columns, quoted
	values  []any
	dropped []string // columns that the store has no more
}

func (f *fittedRow) set(c restoredColumn, value any) {
	f.names, f.values = append(f.names, quoted(c.name)), append(f.values, value)
}

// fit decides which columns of the table get which values of a row. It is ErrUnsupported
// where what was said would be lost, or where the store wants what the row does not have.
func (t *restoredTable) fit(table string, cells map[string]any) (row fittedRow, err error) {
	if _, there := t.columns["content"]; table == "messages" && !there && !isEmpty(cellOf(cells, "content")) {
		return row, unsupported("the store has no messages.content any more, and what was said would be lost")
	}
	given := map[string]bool{}
	for _, column := range sortedKeys(cells) {
		folded := sqlname.Fold(column)
		c, there := t.columns[folded]
		if !there {
			row.dropped = append(row.dropped, column)
			continue
		}
		_, isNumber := cells[column].(int64)
		if c.own || t.numbered && folded == "id" && isNumber {
			continue
		}
		given[folded] = true
		row.set(c, cells[column])
	}
	for _, folded := range sortedKeys(t.columns) {
		c := t.columns[folded]
		if given[folded] {
			continue
		}
		switch {
		case t.numbered && folded == "id":
			t.number++
			row.set(c, t.number)
		case !c.required:
		case table == "sessions" && slices.Contains(routingColumns, folded):
			row.set(c, "")
		case table == "sessions" && isRuntimeCounter(folded):
			row.set(c, int64(0))
		default:
			return row, unsupported("the store now requires %s.%s, which the kept rows do not have", table, c.name)
		}
	}
	return row, nil
}

// isEmpty tells whether a value says nothing.
func isEmpty(value any) bool { return value == nil || value == "" }

// hasIntegers tells whether SQLite makes integers of what a column of that type gets.
func hasIntegers(declared string) bool { return strings.Contains(sqlname.Fold(declared), "int") }

func mapped(renamed map[string]string) (ids []string) {
	for _, old := range sortedKeys(renamed) {
		ids = append(ids, renamed[old])
	}
	return ids
}

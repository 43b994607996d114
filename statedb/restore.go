package statedb

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
	"session-sidecar/internal/sqlname"
)

// What becomes of a kept row when it comes back (contract 10.5): functions of data. The SQL is in restore_sql.go.

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

package trash

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Tables are those whose rows an entry holds (contract 10.1).
var Tables = []string{"system_prompts", "sessions", "messages", "session_model_usage"}

// Row is one row of an entry. Its cells are what SQLite holds: nil, int64, float64, string, or []byte.
type Row struct {
	Table string
	Cells map[string]any
}

// text is the text of a column, in whatever case its name is spelled.
func (r Row) text(column string) (text string, is bool) {
	if text, is = r.Cells[column].(string); is {
		return text, true
	}
	for name, value := range r.Cells {
		if strings.EqualFold(name, column) {
			text, is = value.(string)
			return text, is
		}
	}
	return "", false
}

func parseRow(line []byte) (Row, error) {
	var text struct {
		Table string         `json:"table"`
		Row   map[string]any `json:"row"`
	}
	if !strictly(line, &text) {
		return Row{}, errors.New("it is no row")
	}
	if !slices.Contains(Tables, text.Table) {
		return Row{}, errors.New("it is a row of a table that is not kept")
	}
	if len(text.Row) == 0 {
		return Row{}, errors.New("the row has no columns")
	}
	for column, value := range text.Row {
		cell, ok := parseCell(value)
		if !ok {
			return Row{}, errors.New("it has a value that no row can hold")
		}
		text.Row[column] = cell
	}
	return Row{Table: text.Table, Cells: text.Row}, nil
}

// parseCell reads a value as statedb spells it: a number with a point or an exponent is a REAL; {"base64":…} is a blob, and with
// "text":true it is text that no JSON string can spell.
func parseCell(value any) (cell any, ok bool) {
	switch v := value.(type) {
	case nil, string:
		return v, true
	case json.Number:
		return parseNumber(string(v))
	case map[string]any:
		encoded, isText := v["base64"].(string)
		spelled, has := v["text"].(bool)
		if !isText || (has && !spelled) || (has && len(v) != 2) || (!has && len(v) != 1) {
			return nil, false
		}
		bytes, err := base64.StdEncoding.DecodeString(encoded)
		if has {
			return string(bytes), err == nil
		}
		return bytes, err == nil
	}
	return nil, false
}

func parseNumber(text string) (cell any, ok bool) {
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || math.IsInf(f, 0) // the infinities are spelled as numbers that are too large
}

package trash

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
	"session-sidecar/internal/sqlname"
)

// Tables are those whose rows an entry holds (contract 10.1).
var Tables = []string{"system_prompts", "sessions", "messages", "session_model_usage"}

// maxColumns is how many columns SQLite lets a table have.
const maxColumns = 32767

// Row is one row of an entry. Its cells are what SQLite holds: nil, int64, float64, string, or []byte.
type Row struct {
	Table string
	Cells map[string]any
}

// spelledRow is a row as its line spells it: nothing of it is copied, and it is good for as long as the line is.
type spelledRow struct {
	table string
	cells map[string][]byte
}

// parseRow takes a line apart, and makes sure that row can read every cell.
func parseRow(line []byte) (row spelledRow, err error) {
	// A reader in between would read other text where it is no UTF-8.
	if !utf8.Valid(line) || !json.Valid(line) {
		return row, errors.New("it is no row")
	}
	var table, cells []byte
	whole := jsontext.Each(line, func(m jsontext.Member) bool {
		switch {
		case string(m.Name) == `"table"` && table == nil:
			table = m.Value
		case string(m.Name) == `"row"` && cells == nil && m.Value[0] == '{':
			cells = m.Value
		default:
			return false
		}
		return true
	})
	if !whole || table == nil || cells == nil {
		return row, errors.New("it is no row")
	}
	i := slices.IndexFunc(Tables, func(name string) bool { return string(table) == `"`+name+`"` })
	if i < 0 {
		return row, errors.New("it is a row of a table that is not kept")
	}
	row = spelledRow{Tables[i], map[string][]byte{}}
	names, n := map[string]bool{}, 0
	jsontext.Each(cells, func(m jsontext.Member) bool {
		name := textOf(m.Name)
		names[sqlname.Fold(name)] = true
		row.cells[name] = m.Value
		n++
		switch {
		case !isCell(m.Value):
			err = errors.New("it has a value that no row can hold")
		case n != len(names) || n > maxColumns:
			err = errors.New("it has columns that no row can have")
		}
		return err == nil
	})
	if err == nil && len(row.cells) == 0 {
		err = errors.New("the row has no columns")
	}
	return row, err
}

// text is the text of a column, in whatever case its name is spelled.
func (r spelledRow) text(column string) (text string, is bool) {
	_, spelled, found := sqlname.Find(r.cells, column)
	if !found || spelled[0] != '"' {
		return "", false
	}
	return textOf(spelled), true
}

// row reads every cell.
func (r spelledRow) row() (Row, error) {
	row := Row{r.table, make(map[string]any, len(r.cells))}
	for column, spelled := range r.cells {
		cell, ok := parseCell(spelled)
		if !ok {
			return Row{}, errors.New("it has a value that no row can hold")
		}
		row.Cells[column] = cell
	}
	return row, nil
}

// textOf reads a string of valid JSON.
func textOf(spelled []byte) (text string) {
	if bytes.IndexByte(spelled, '\\') < 0 {
		return string(spelled[1 : len(spelled)-1])
	}
	_ = json.Unmarshal(spelled, &text)
	return text
}

// isCell tells whether parseCell can read a value, without reading it: it may be large.
func isCell(spelled []byte) bool {
	switch spelled[0] {
	case '"':
		return true
	case '{':
		encoded, _, ok := base64Of(spelled)
		if padding := bytes.IndexByte(encoded, '='); !ok || len(encoded)%4 != 0 || padding >= 0 && padding < len(encoded)-2 {
			return false
		}
		_, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, bytes.NewReader(encoded)))
		return err == nil
	}
	_, ok := parseCell(spelled)
	return ok
}

// parseCell reads a value as statedb spells it: a number with a point or an exponent is a REAL; {"base64":…} is a blob, and with
// "text":true it is text that no JSON string can spell.
func parseCell(spelled []byte) (cell any, ok bool) {
	switch spelled[0] {
	case '"':
		return textOf(spelled), true
	case 'n':
		return nil, true
	case '{':
		encoded, isText, ok := base64Of(spelled)
		if !ok {
			return nil, false
		}
		blob := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
		n, err := base64.StdEncoding.Decode(blob, encoded)
		if isText {
			return string(blob[:n]), err == nil
		}
		return blob[:n], err == nil
	case 't', 'f', '[':
		return nil, false
	}
	return parseNumber(string(spelled))
}

// base64Of takes {"base64":…} apart.
func base64Of(spelled []byte) (encoded []byte, isText, ok bool) {
	whole := jsontext.Each(spelled, func(m jsontext.Member) bool {
		switch {
		case string(m.Name) == `"base64"` && encoded == nil && m.Value[0] == '"':
			encoded = m.Value[1 : len(m.Value)-1]
		case string(m.Name) == `"text"` && !isText && string(m.Value) == "true":
			isText = true
		default:
			return false
		}
		return true
	})
	return encoded, isText, whole && encoded != nil
}

func parseNumber(text string) (cell any, ok bool) {
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || math.IsInf(f, 0) // the infinities are spelled as numbers that are too large
}

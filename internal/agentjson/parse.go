package agentjson

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Parse reads JSON text into what Encode writes: of two equal keys the last counts, as in Python, and a number keeps its
// spelling. A lone surrogate, which no UTF-8 can spell, reads as U+FFFD.
func Parse(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return value, nil
}

// RepeatsName tells whether an object in valid JSON text has a name twice: readers differ in which of the two they take.
func RepeatsName(text string) bool {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	type level struct {
		names map[string]bool // nil in a list
		name  bool            // the next token is a name
	}
	levels := []*level{{}}
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		top := levels[len(levels)-1]
		if name, ok := token.(string); ok && top.name {
			if top.names[name] {
				return true
			}
			top.names[name], top.name = true, false
			continue
		}
		top.name = top.names != nil // after this value, or what it opens, another name comes
		switch token {
		case json.Delim('{'):
			levels = append(levels, &level{map[string]bool{}, true})
		case json.Delim('['):
			levels = append(levels, &level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		}
	}
}

package statedb

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// The lineage markers in the JSON of sessions.model_config (contract 5).
const (
	keyDelegate = "_delegate_from"
	keyBranch   = "_branched_from"
	keyReset    = "_reset_from"
)

// marker is one lineage marker of a row. The zero value is a marker that is not there; JSON null is the same.
type marker struct {
	present bool
	value   any // as encoding/json decodes it
}

// newMarker is a marker with a value; nil is one that is not there.
func newMarker(value any) marker { return marker{present: value != nil, value: value} }

// names tells whether the marker names this id. A marker that is not text names no row, but is there.
func (m marker) names(id string) bool {
	text, ok := m.value.(string)
	return ok && text == id
}

// target is the id that the marker names, if it names any.
func (m marker) target() (string, bool) {
	text, ok := m.value.(string)
	return text, ok
}

// compound tells whether the marker is an array or an object: a store of a kind that we do not know.
func (m marker) compound() bool {
	switch m.value.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

func (m marker) equal(other marker) bool {
	return m.present && other.present && reflect.DeepEqual(m.value, other.value)
}

// markers is what the lineage needs of a model_config.
type markers struct {
	readable                bool // NULL, empty, or a JSON object
	delegate, branch, reset marker
}

// any tells whether one of the three markers is there.
func (m markers) any() bool { return m.delegate.present || m.branch.present || m.reset.present }

// anyNames tells whether one of the three markers names this id.
func (m markers) anyNames(id string) bool {
	return m.delegate.names(id) || m.branch.names(id) || m.reset.names(id)
}

// isDisputed tells whether Python reads a marker that names the parent from text that SQLite cannot read.
func isDisputed(parent, unreadable *string) bool {
	return parent != nil && readMarkers(unreadable).anyNames(*parent)
}

// without drops the markers that other carries with the same value.
func (m markers) without(other markers) markers {
	for _, pair := range []struct {
		mine  *marker
		other marker
	}{{&m.delegate, other.delegate}, {&m.branch, other.branch}, {&m.reset, other.reset}} {
		if pair.mine.equal(pair.other) {
			*pair.mine = marker{}
		}
	}
	return m
}

// readMarkers reads a model_config as an Agent without the runtime ledger does, which is how Python's json reads it:
// exact keys, the last of two equal ones, and NaN and Infinity as numbers. Text that is no JSON object is unreadable and
// has no markers.
func readMarkers(modelConfig *string) markers {
	if modelConfig == nil || *modelConfig == "" {
		return markers{readable: true}
	}
	if !utf8.ValidString(*modelConfig) {
		return markers{}
	}
	if !mayHoldMarker(*modelConfig) {
		return markers{readable: isJSONObject(*modelConfig)}
	}
	return decodeMarkers(*modelConfig)
}

// mayHoldMarker tells text that is worth decoding. A key that is not there letter by letter can only be spelled with
// escapes, and those of its letters all begin with \u00.
func mayHoldMarker(text string) bool {
	for _, sign := range []string{keyDelegate, keyBranch, keyReset, `\u00`} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

func decodeMarkers(modelConfig string) markers {
	object, ok := readPythonObject(modelConfig)
	if !ok {
		return markers{}
	}
	return markers{
		readable: true,
		delegate: readMarker(object[keyDelegate]),
		branch:   readMarker(object[keyBranch]),
		reset:    readMarker(object[keyReset]),
	}
}

func readMarker(raw json.RawMessage) marker {
	if len(raw) == 0 {
		return marker{}
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		// It is JSON, with a number beyond float64 in it: Python reads it, and the marker is there.
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil {
			return marker{}
		}
	}
	return newMarker(value)
}

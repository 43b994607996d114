package statedb

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"session-sidecar/internal/jsontext"
)

// This file reads JSON objects that others wrote into a store. Their names are read to the letter, as every reader but Go's structs
// does, and of two equal names the last one counts, as for the Agent.

// readObject reads text as a JSON object, strictly: NaN and Infinity, which only Python knows, make it none.
func readObject[T ~string | ~[]byte](text T) (object map[string]json.RawMessage, ok bool) {
	raw := []byte(text)
	if !utf8.Valid(raw) {
		return nil, false
	}
	err := json.Unmarshal(raw, &object)
	return object, err == nil && object != nil
}

// readPythonObject reads text as a JSON object as Python does.
func readPythonObject(text string) (object map[string]json.RawMessage, ok bool) {
	return readObject(replacePythonNumbers([]byte(text)))
}

// readString reads a JSON string; null is none.
func readString(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// readExactString is readString, but half of a surrogate pair is no text: it would be read as another character, and so as
// another name.
func readExactString(raw json.RawMessage) (string, bool) {
	text, ok := readString(raw)
	if ok && strings.ContainsRune(text, utf8.RuneError) && bytes.Contains(bytes.ToLower(raw), []byte(`\ud`)) {
		return "", false
	}
	return text, ok
}

// replacePythonNumbers puts a number in the place of each NaN, Infinity and -Infinity outside strings: Python writes and
// reads them, JSON has no such words, and no marker depends on their value. The spaces keep neighbours apart.
func replacePythonNumbers(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	replacer := strings.NewReplacer("-Infinity", " 0 ", "Infinity", " 0 ", "NaN", " 0 ")
	var out bytes.Buffer
	for len(text) > 0 {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			quote = len(text)
		}
		out.WriteString(replacer.Replace(string(text[:quote])))
		end := quote + jsontext.StringLength(text[quote:])
		out.Write(text[quote:end])
		text = text[end:]
	}
	return out.Bytes()
}

// isJSONObject tells whether readPythonObject would succeed on text that is UTF-8.
func isJSONObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid(replacePythonNumbers([]byte(text)))
}
